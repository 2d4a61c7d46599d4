/** Begins with the longest suites, also if Jest has not seen any of them yet, so that none of them begins last. */
const path = require('node:path')
const { default: Sequencer } = require('@jest/test-sequencer')

const longest = [
  ...['examiner/sites', 'package/recipes', 'browser/look', 'browser/scripts', 'package/quick-start'],
  ...['package/examples', 'package/generated', 'package/package', 'browser/portal', 'browser/pages'],
  ...['browser/login-forms', 'package/testing', 'browser/refused', 'browser/story', 'examiner/doctor-input'],
  ...['examiner/hopeless', 'http/hooks', 'http/outages-sso', 'security/leaks', 'http/closing'],
  ...['http/logout-final', 'http/hooks-login', 'storage/opening', 'security/limits', 'security/secret-rotation'],
  ...['security/poisoned-account', 'examiner/command', 'emulator/command', 'examiner/discovery'],
  'examiner/doctor-answers',
].map((name) => path.join(__dirname, '..', `${name}.test.ts`))

class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path: file }) => (longest.includes(file) ? longest.indexOf(file) : longest.length)
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b))
  }
}

module.exports = LongestFirst
