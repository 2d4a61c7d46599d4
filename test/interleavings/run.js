/** Runs main.ts without a build; see the head of it. */
require('../support/typescript.js')

require('./main.ts')
