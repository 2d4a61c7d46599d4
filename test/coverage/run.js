/** Prints which branches of lib nothing takes: README.md says how. Exit 1 when a test fails, or when all tests take less than the goal. */
const { spawnSync } = require('node:child_process')
const { cpSync, rmSync } = require('node:fs')
const path = require('node:path')
const { makeCopy, root } = require('../support/copy.js')
const { instrument } = require('./instrument.js')
const { addUp, report } = require('./report.js')

const args = process.argv.slice(2)
const folder = makeCopy('sso2-coverage-')
const zero = instrument(folder)
const jest = [path.join(folder, 'test/support/run.js'), '--config', path.join(folder, 'test/coverage/jest.config.js')]
const { status } = spawnSync(process.execPath, [...jest, ...args], { cwd: folder, stdio: 'inherit' })
if (args.length === 0) runTool('test/examiner/run-weakenings.js')
const isEnough = report(addUp(zero, path.join(folder, 'coverage/counts')), folder)
rmSync(path.join(root, 'coverage'), { recursive: true, force: true })
cpSync(path.join(folder, 'coverage'), path.join(root, 'coverage'), { recursive: true })
rmSync(folder, { recursive: true, force: true })

/** Runs a program of the tests in the copy. Its verdicts are for `npm run examine:weakenings`; here it only takes branches. */
function runTool(file) {
  spawnSync(process.execPath, [path.join(folder, file)], { cwd: folder, stdio: 'ignore' })
}

process.exitCode = status === 0 && (isEnough || args.length > 0) ? 0 : 1
