/** Ends a run in which a suite hangs, beyond the time limits of its tests: names the suite, and what its process has open. */
const { execFileSync } = require('node:child_process')

const HANGS_MS = Number(process.env.TEST_HANGS_MS ?? 240_000)
/** The process of a suite has so long to name what it has open (environment.js). */
const TELL_MS = 1000

module.exports = class HangReporter {
  /** When something was last heard of a suite that has begun. */
  #heardAt = new Map()
  #timer = setInterval(() => this.#look(), HANGS_MS / 20).unref()

  onTestFileStart(test) {
    this.#heardAt.set(test.path, Date.now())
  }
  onTestCaseResult(test) {
    this.#heardAt.set(test.path, Date.now())
  }
  onTestFileResult(test) {
    this.#heardAt.delete(test.path)
  }
  onRunComplete() {
    clearInterval(this.#timer)
  }

  #look() {
    const hanging = [...this.#heardAt].filter(([, at]) => Date.now() - at > HANGS_MS).map(([suite]) => suite)
    if (hanging.length === 0) return
    clearInterval(this.#timer)
    for (const suite of hanging) console.error(`HANGS ${suite}: nothing for ${HANGS_MS / 1000} s`)
    for (const pid of workers()) process.kill(pid, 'SIGUSR2')
    setTimeout(() => process.exit(1), TELL_MS)
  }
}

function workers() {
  const rows = execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' }).split('\n')
  return rows.filter((row) => row.includes('jest-worker')).map((row) => Number.parseInt(row, 10))
}
