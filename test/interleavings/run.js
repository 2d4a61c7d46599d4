/** Runs main.ts without a build. */
const { exitWith } = require('../support/typescript.js')

exitWith(require('./main.ts').main())
