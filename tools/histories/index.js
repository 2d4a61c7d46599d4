/**
 * Plays random histories while everything breaks, and judges what the browsers saw.
 *
 *   node tools/histories [--steps 10000] [--runs 1] [--seed 1] [--masters cluster|sentinel] [--server redis-server]
 *
 * Ten browsers do anything at once (pages, scripts, logins, wrong passwords, forms sent twice, logouts, fresh pages, stolen landing
 * addresses, old cookies), three only read, and new ones come by, at a site of two processes over a real Redis and the
 * emulator. Meanwhile the platform and Redis go away, hang, are slow, answer nonsense, lose what they had; processes are killed, stand
 * still, have a wrong clock; sessions end elsewhere; time passes. Builds dist first. 10,000 steps take five minutes, 500 take half of one.
 *
 * With `--masters` the store is a Cluster, or has Sentinels, and one master after another stands still and is replaced.
 *
 * A seed repeats who does what, and what breaks in which order; when exactly is the machine's, so a seed that has failed may pass the next time.
 * Therefore a history that broke a promise leaves all that was seen as JSON, and prints where. What it found gets a test where it fails for sure.
 *
 * A promise (`promises-*.ts`) is a function from a view to texts that say how it was broken. It is judged by what a browser was shown and
 * when, and by what the platform was asked, never by what is stored. A fault is a line in `faults.ts`, a step one in `steps.ts`.
 */
const { build, exitWith } = require('../start.js')

build()
exitWith(require('./main.ts').main())
