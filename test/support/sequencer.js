/** Begins with the longest suites, also if Jest has not seen any of them yet, so that none of them begins last. */
const path = require('node:path')
const { default: Sequencer } = require('@jest/test-sequencer')

const longest = [
  ...['package/recipes', 'package/quick-start', 'examiner/sites', 'browser/pages', 'browser/portal', 'browser/look'],
  ...['http/hooks', 'http/logout-final', 'http/outages-sso', 'security/leaks'],
  ...['http/logout-again', 'http/status-check', 'http/outages-redis-writes', 'http/logout-all'],
  ...['security/return-addresses', 'security/poisoned-account', 'security/secret-rotation', 'http/limits-sessions'],
  ...['browser/story', 'browser/refused', 'http/closing', 'remote/outages', 'emulator/command', 'package/testing'],
].map((name) => path.join(__dirname, '..', `${name}.test.ts`))

class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path: file }) => (longest.includes(file) ? longest.indexOf(file) : longest.length)
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b))
  }
}
LongestFirst.longest = longest

module.exports = LongestFirst
