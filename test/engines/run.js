/** Runs main.ts without a build of it: `node test/engines/run.js --quick`. */
const { exitWith } = require('../support/typescript.js')

// servers that were started go with this process, however it ends
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

exitWith(require('./main.ts').main(process.argv.slice(2)))
