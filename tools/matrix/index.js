/**
 * Packs the package, compiles a site against the packed file with each TypeScript in each module system, and walks through the examples with
 * each Node.js and each Express. Prints a line for each; exit 1 where anything failed.
 *
 *   node tools/matrix
 *
 * Builds dist first, and installs all of those versions from npm into temporary folders. Takes ten minutes. `consumer` is the code that is compiled.
 */
const { build, exitWith } = require('../start.js')

build()
exitWith(require('./main.ts').main())
