/** What the programs of this folder begin with: the build that they need, and TypeScript that is required as it is. */
const { execFileSync } = require('node:child_process')
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { transformSync } = require('@swc/core')

const root = path.join(__dirname, '..')
const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs', ignoreDynamic: true },
  isModule: true,
  swcrc: false,
}

require.extensions['.ts'] = (module, file) => {
  module._compile(transformSync(readFileSync(file, 'utf8'), { ...options, filename: file }).code, file)
}

/** Builds dist. */
const build = () => execFileSync('npm', ['run', 'build', '--silent'], { cwd: root, stdio: 'inherit' })

/** Ends this program as its `main` does: with its exit code, or with 2 and the error. */
function exitWith(done) {
  done.then(
    (code) => process.exit(code),
    (error) => {
      console.error(error)
      process.exit(2)
    },
  )
}

module.exports = { build, exitWith, root }
