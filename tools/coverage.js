/**
 * Prints which branches of lib the tests take, file by file, and leaves the sources with their counts in coverage/lcov-report.
 *
 *   node tools/coverage [patterns of jest]
 *
 * All tests take ten minutes, `decide` half of one. What only runs in processes of their own (the command line, examples) counts as not taken.
 */
const { spawnSync } = require('node:child_process')
const { root } = require('./start.js')

const flags = ['--coverage', '--coverageProvider=v8', '--collectCoverageFrom=lib/**/*.ts', '--silent']
const { status } = spawnSync(process.execPath, ['test/support/run.js', ...flags, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
