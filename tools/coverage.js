/**
 * Prints which branches of lib the tests take, file by file, and leaves the sources with their counts in coverage/lcov-report.
 *
 *   node tools/coverage [patterns of jest]
 *
 * All tests take four minutes, `test/unit` a quarter of one. Istanbul counts, because counts of V8 get lost when many suites are merged. What only runs in processes of their own (the command line, examples) counts as not taken.
 */
const { spawnSync } = require('node:child_process')
const { root } = require('./start.js')

const flags = ['--coverage', '--coverageProvider=babel', '--collectCoverageFrom=lib/**/*.ts', '--silent']
const { status } = spawnSync(process.execPath, ['test/support/run.js', ...flags, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
})
process.exitCode = status ?? 1
