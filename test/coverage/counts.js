/** How often each place was reached, in one file for each suite and each process. */
const { randomUUID } = require('node:crypto')
const { mkdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')

const folder = path.join(__dirname, '..', '..', 'coverage', 'counts')

function writeCounts(counters) {
  const counts = Object.entries(counters).map(([file, { s, f, b }]) => [file, { s, f, b }])
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, `${randomUUID()}.json`), JSON.stringify(Object.fromEntries(counts)))
}

module.exports = { writeCounts }
