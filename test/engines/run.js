/** Runs main.ts without a build of it: `node test/engines/run.js --quick`. */
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { transformSync } = require('@swc/core')

const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  isModule: true,
  swcrc: false,
}

require.extensions['.ts'] = (module, file) => {
  module._compile(transformSync(readFileSync(file, 'utf8'), { ...options, filename: file }).code, file)
}

// servers that were started go with this process, however it ends
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

require(path.join(__dirname, 'main.ts'))
  .main(process.argv.slice(2))
  .then(
    (code) => process.exit(code),
    (error) => {
      console.error(error)
      process.exit(2)
    },
  )
