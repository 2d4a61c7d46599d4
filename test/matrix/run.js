/** Runs main.ts without a build of it: `node test/matrix/run.js`. */
const { exitWith } = require('../support/typescript.js')

exitWith(require('./main.ts').main())
