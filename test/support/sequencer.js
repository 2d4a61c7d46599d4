/** Begins with the longest suites, also if Jest has not seen any of them yet, so that none of them begins last. */
const path = require('node:path')
const { default: Sequencer } = require('@jest/test-sequencer')

const longest = [
  ...['safety/addresses', 'browser/look'],
  ...['regressions/poisoned-account', 'examiner/sites', 'browser/pages', 'safety/login-limits', 'browser/portal'],
  ...['package/quick-start', 'package/recipes', 'package/testing', 'http/outages-redis-writes'],
  ...['http/outages-midway', 'security/secret-rotation', 'regressions/many-sessions'],
  ...['storage/dead-connections', 'browser/story', 'http/closing', 'http/outages-matrix-redis', 'remote/outages'],
].map((name) => path.join(__dirname, '..', `${name}.test.ts`))

class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path: file }) => (longest.includes(file) ? longest.indexOf(file) : longest.length)
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
LongestFirst.longest = longest

module.exports = LongestFirst
