/**
 * Writes what is generated of the documentation: options, API reference, `llms.txt`, and the comments of options in the sources.
 * `test/package/generated.test.ts` holds them current.
 *
 *   npm run docs          builds dist first, whose declarations are read
 *   node tools/docs [folder to write to instead of the repository]
 *
 * Takes ten seconds.
 */
const { exitWith } = require('../start.js')

exitWith(require('./main.ts').main(process.argv.slice(2)))
