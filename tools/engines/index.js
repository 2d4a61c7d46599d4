/**
 * Kills or freezes a master of Redis under load, and looks whether anybody notices more than is promised.
 *
 *   node tools/engines [--quick] [--server valkey-server] [--topology cluster,sentinel]
 *
 * Builds dist, and starts the rest itself: a Cluster, or a master with Sentinels; the platform; two processes of a site behind a proxy;
 * 60 readers with 100 actions a second. A reader does one thing at a time, so what the page must show is known (`judge.ts`). A master that
 * does not answer is given up after 2 s. Takes two minutes; `--quick` half of one: Sentinels, one master killed. Exit 1 when a promise is
 * broken. What takes too long may be the fault of a busy machine.
 */
const { build, exitWith } = require('../start.js')

build()
exitWith(require('./main.ts').main())
