/**
 * `npm test [-- patterns and options of jest]`: says what the tests need and installs it where that is possible, builds dist, and runs Jest.
 * `npm test -- logout` runs the suites whose path has that word.
 */
const { spawnSync } = require('node:child_process')
const path = require('node:path')

const steps = [
  ['bash', path.join(__dirname, 'install-tools.sh')],
  ['npm', 'run', 'build', '--silent'],
  [process.execPath, path.join(__dirname, 'jest.js'), ...process.argv.slice(2)],
]
const failed = steps.find(([command, ...args]) => spawnSync(command, args, { stdio: 'inherit' }).status !== 0)
process.exitCode = failed ? 1 : 0
