/** Keeps the counters of a process of its own: a site, the command line, an example. One that is killed by SIGKILL keeps none. */
const { writeCounts } = require('./counts.js')

globalThis.__coverage__ = {}
const keep = () => writeCounts(globalThis.__coverage__)
process.once('exit', keep)
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.once(signal, () => {
    if (process.listenerCount(signal) > 0) return // the program ends by itself, or stays
    keep()
    process.kill(process.pid, signal) // and ends as it would have
  })
}
