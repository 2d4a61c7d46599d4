/**
 * Runs a site under load while the platform and Redis fail, and watches memory and open handles for growth.
 *
 *   node tools/soak [--minutes 10] [--browsers 150] [--seed 1]
 *
 * Builds dist first. 150 browsers do what those of tools/histories do, at a site of two processes: about 200 requests a second. The platform
 * is away for 6 of every 20 s. Redis is restarted once a minute, and has lost everything at each third time. Sessions are checked
 * every 20 s, so that ten minutes see as many checks as three hours do otherwise. Every 10 s a line is printed, of both processes together,
 * after a garbage collection. In the end everything that browsers saw is judged by the promises of tools/histories, and the last
 * quarter of the samples by the one before. Exit 1 where a promise was broken or a figure grows. A machine that is busy shows in troubles called `busy`.
 */
const { build, exitWith } = require('../start.js')

build()
exitWith(require('./main.ts').main())
