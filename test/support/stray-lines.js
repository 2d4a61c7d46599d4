const { stripVTControlCharacters } = require('node:util')

/** What Jest itself says of suites that pass, and of their sum. That a process does not end means that a suite has left something open. */
const OWN = /^($|PASS |(Test Suites|Tests|Snapshots|Time): |Ran all test suites)/

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
