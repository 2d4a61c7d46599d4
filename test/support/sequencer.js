/** Begins with the longest suites, also if Jest has not seen any of them yet, so that none of them begins last. */
const path = require('node:path')
const { default: Sequencer } = require('@jest/test-sequencer')

const longest = [
  ...['examiner/sites', 'browser/look', 'examiner/doctor-input', 'browser/pages', 'browser/portal'],
  ...['emulator/command', 'browser/scripts', 'examiner/hopeless', 'browser/login-forms', 'package/recipes'],
  ...['package/examples', 'browser/refused', 'browser/story', 'examiner/command', 'examiner/doctor'],
  ...['package/generated', 'http/newer-ioredis', 'http/hooks', 'package/quick-start', 'security/secret-rotation'],
].map((name) => path.join(__dirname, '..', `${name}.test.ts`))

class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path: file }) => (longest.includes(file) ? longest.indexOf(file) : longest.length)
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b))
  }
}

module.exports = LongestFirst
