/**
 * What this package costs a site, beside what a good developer writes by hand (*plain*: express 5, express-session, connect-redis 8,
 * ioredis). Prints Markdown; `docs/internals/benchmarks.md` says how to read it.
 *
 *   node tools/bench [warm|flow|weight] [--quick] [--rounds 9] [--only page,bare] [--requests 100000]
 *
 * - `warm`: a request of a logged-in reader: CPU, requests a second, Redis commands, memory after `--requests`. 4 minutes; `--only` takes rows.
 * - `flow`: first visit, logins, six-minute check, logouts, one whole visit, with the default limits. 2 minutes.
 * - `weight`: how long the package and what it stands on take to load. 1 minute.
 *
 * `--quick` shows in a minute that everything works. Build first; `BENCH_DIST=/somewhere/dist` measures another build. `BENCH_FLAGS` gives flags of Node.js to the servers.
 * `BENCH_OTHERS=/a/folder` adds rows of other packages to `warm`, after `npm i --prefix /a/folder express-openid-connect keycloak-connect @clerk/express`.
 *
 * Each row has a server process of its own, pinned on the first core; load, Redis and emulator have the others. Readers come in through the
 * server's own flow. Servers take turns in short bursts, the first round is thrown away, and ratios are taken round by round. CPU is that of the
 * server, all threads, divided by the requests. Commands of `warm` are what Redis counts.
 */
const { exitWith } = require('../start.js')
const { parseCommand } = require('./options.ts')

const programs = {
  warm: () => require('./warm.ts').warm,
  flow: () => require('./flow.ts').flow,
  weight: () => require('./weight.ts').weight,
}
const { name, options } = parseCommand(Object.keys(programs))
exitWith(programs[name]()(options))
