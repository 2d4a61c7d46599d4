/** Runs main.ts without a build of it; see the head of it. The package under test is the built one. */
require('../support/typescript.js')
require('./main.ts')
