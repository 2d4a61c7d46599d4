/**
 * `npm test [-- patterns and options of jest]`: says what the tests need and installs it where that is possible, builds dist, and runs Jest.
 * `npm test -- logout` runs the suites whose path has that word.
 */
const { spawnSync } = require('node:child_process')
const path = require('node:path')

/** Jest's workers inherit these. Two cores have four of them already: V8's own helpers would only take turns with them. */
const V8_FLAGS = ['--single-threaded', '--min-semi-space-size=16', '--max-semi-space-size=16']
const NO_DEPRECATION = 'express-session' // it reports a cookie that only cookie-parser has found: a test sends many of them

const steps = [
  ['bash', path.join(__dirname, 'install-tools.sh')],
  ['npm', 'run', 'build', '--silent'],
  [process.execPath, ...V8_FLAGS, require.resolve('jest/bin/jest'), ...process.argv.slice(2)],
]
const options = { stdio: 'inherit', env: { ...process.env, NO_DEPRECATION } }
const failed = steps.find(([command, ...args]) => spawnSync(command, args, options).status !== 0)
process.exitCode = failed ? 1 : 0
