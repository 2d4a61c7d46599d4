const TestEnvironment = require('../support/environment.js')
const { writeCounts } = require('./counts.js')

/** Keeps the counters of a suite. */
module.exports = class CountingEnvironment extends TestEnvironment {
  async setup() {
    await super.setup()
    this.global.__coverage__ = {}
  }
  async teardown() {
    writeCounts(this.global.__coverage__)
    await super.teardown()
  }
}
