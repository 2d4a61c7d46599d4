/** Keeps the counters of a process of its own: a site, the command line, an example. One that is killed keeps none. */
const { writeCounts } = require('./counts.js')

globalThis.__coverage__ = {}
process.once('exit', () => writeCounts(globalThis.__coverage__))
