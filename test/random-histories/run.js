/** Runs main.ts without a build of it. The package under test is the built one. */
const { exitWith } = require('../support/typescript.js')

exitWith(require('./main.ts').main())
