/**
 * Lets a program of the tests require TypeScript as it is, without a build of it.
 * `node test/support/typescript.js soak` runs `test/soak/main.ts`, with the arguments that follow.
 */
const { readFileSync } = require('node:fs')
const { transformSync } = require('@swc/core')

const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs', ignoreDynamic: true },
  isModule: true,
  swcrc: false,
}

require.extensions['.ts'] = (module, file) => {
  module._compile(transformSync(readFileSync(file, 'utf8'), { ...options, filename: file }).code, file)
}

/** Ends this program as its `main` does: with its exit code, or with 2 and the error. */
exports.exitWith = (done) =>
  done.then(
    (code) => process.exit(code),
    (error) => {
      console.error(error)
      process.exit(2)
    },
  )

if (require.main === module) {
  const [folder] = process.argv.splice(2, 1)
  exports.exitWith(require(`../${folder}/main.ts`).main(process.argv.slice(2)))
}
