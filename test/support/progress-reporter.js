const fs = require('node:fs')

/** Writes down which suites have begun and ended, one JSON object a line, for test/support/run.js. */
module.exports = class ProgressReporter {
  onTestFileStart(test) {
    this.#note(test.path, 'begun')
  }
  onTestFileResult(test, { numFailingTests, testExecError }) {
    this.#note(test.path, numFailingTests > 0 || testExecError ? 'failed' : 'passed')
  }
  #note(suite, outcome) {
    fs.appendFileSync(process.env.TEST_PROGRESS, `${JSON.stringify({ suite, at: Date.now(), outcome })}\n`)
  }
}
