/** Runs main.ts without a build of it: `node test/site/run.js`. */
const { exitWith } = require('../support/typescript.js')

exitWith(require('./main.ts').main())
