const fs = require('node:fs')

/** That a suite goes on is written down this seldom, in milliseconds. */
const EVERY_MS = 5000

/** Writes down which suites have begun, go on and have ended, one JSON object a line, for test/support/run.js. */
module.exports = class ProgressReporter {
  /** When something was last written down of a suite. */
  #notedAt = new Map()

  onTestFileStart(test) {
    this.#note(test.path, 'begun')
  }
  /** A suite of many tests is not stuck, however long it takes on a busy machine. */
  onTestCaseResult(test) {
    if (Date.now() - (this.#notedAt.get(test.path) ?? 0) > EVERY_MS) this.#note(test.path, 'begun')
  }
  onTestFileResult(test, { numFailingTests, testExecError }) {
    this.#note(test.path, numFailingTests > 0 || testExecError ? 'failed' : 'passed')
  }
  #note(suite, outcome) {
    const at = Date.now()
    this.#notedAt.set(suite, at)
    fs.appendFileSync(process.env.TEST_PROGRESS, `${JSON.stringify({ suite, at, outcome })}\n`)
  }
}
