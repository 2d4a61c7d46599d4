/** The environment of the suites, in which the first test that fails ends its suite: a change is noticed, and the rest would only wait. */
const Environment = require('../../test/support/environment.js')

module.exports = class extends Environment {
  async handleTestEvent(event) {
    await super.handleTestEvent(event)
    if (event.name === 'test_done' && event.test.errors.length > 0) this.isOver = true
    if (event.name === 'test_start' && this.isOver) event.test.mode = 'skip'
  }
}
