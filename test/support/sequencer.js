/** The longest suites first, also where Jest has not seen any of them yet: what begins last must not be what takes longest. */
const path = require('node:path')
const { default: Sequencer } = require('@jest/test-sequencer')

const LONGEST = [
  ...['orders/orders', 'differential/session', 'web/logout-queue', 'browser/look', 'browser/pages'],
  ...['history/history', 'safety/login-limits', 'browser/portal', 'situations/serverless'],
  ...['safety/token-answers', 'flows/login-death', 'faults/store', 'flows/closing', 'browser/story'],
].map((name) => path.join(__dirname, '..', `${name}.test.ts`))

class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path: file }) => (LONGEST.includes(file) ? LONGEST.indexOf(file) : LONGEST.length)
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b))
  }
}

module.exports = LongestFirst
