/** Runs main.ts without a build of it: `node test/site/run.js`. */
require('../support/typescript.js')

require('./main.ts')
  .main()
  .then(
    (code) => process.exit(code),
    (error) => {
      console.error(error)
      process.exit(2)
    },
  )
