/** Runs a program of this folder without a build of it: `npm run docs` writes what is generated, `node test/docs/run.js folder` a copy. */
require('../support/typescript.js')

require('./main.ts')
  .main(process.argv.slice(2))
  .catch((error) => {
    console.error(error)
    process.exitCode = 1
  })
