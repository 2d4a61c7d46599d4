const { stripVTControlCharacters } = require('node:util')

/** What Jest itself says of suites that pass, of their sum, and of a busy machine on which a process takes half a second to end. */
const OWN = /^($|PASS |(Test Suites|Tests|Snapshots|Time): |Ran all test suites|A worker process has failed to exit)/

/** Passes on what a stream says; `lines` are those which Jest did not write, but a test or what it runs. */
class StrayLines {
  lines = []
  #begun = new Map()

  pass(stream, target) {
    stream.setEncoding('utf8').on('data', (text) => {
      target.write(text)
      const parts = ((this.#begun.get(target) ?? '') + text).split('\n')
      this.#begun.set(target, parts.pop())
      for (const line of parts) if (!OWN.test(stripVTControlCharacters(line))) this.lines.push(line)
    })
  }
}

module.exports = { StrayLines }
