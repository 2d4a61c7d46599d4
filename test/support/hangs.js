/**
 * Fails a suite that hangs, and names what its process has open: at the time limit of a test or hook, and where nothing has happened for
 * HANGS_MS. A thread watches, because a loop, or a program that is waited for, keeps the process itself from it.
 */
const { writeSync } = require('node:fs')
const { isMainThread, parentPort, Worker } = require('node:worker_threads')

const HANGS_MS = Number(process.env.TEST_HANGS_MS ?? 240_000)
/** So long does a process have to name what it has open. */
const TELL_MS = 2000
/** As if killed: Jest does not begin the suite again. */
const KILLED = 137

if (isMainThread) {
  const thread = new Worker(__filename)
  let suite
  const tell = () => writeSync(2, `${suite} has open: ${openHandles().join(', ')}\n`)
  thread.once('message', () => {
    tell()
    process.exit(KILLED)
  })
  thread.unref()
  const hear = (from) => {
    suite = from
    thread.postMessage(from)
  }
  module.exports = { hear, tell }
} else {
  let timer
  parentPort.on('message', (suite) => {
    clearTimeout(timer)
    if (suite) timer = setTimeout(end, HANGS_MS, suite)
  })
}

function end(suite) {
  writeSync(2, `HANGS ${suite}: nothing for ${HANGS_MS / 1000} s\n`)
  parentPort.postMessage('tell')
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), TELL_MS)
}

function openHandles() {
  const open = process.report.getReport().libuv.filter((handle) => handle.is_active && handle.is_referenced)
  return open.map(({ type, localEndpoint, remoteEndpoint, pid, firesInMsFromNow: ms }) =>
    [type, localEndpoint?.port, remoteEndpoint && `to ${remoteEndpoint.port}`, pid, ms && `in ${ms} ms`]
      .filter(Boolean)
      .join(' '),
  )
}
