/**
 * Runs Jest, and ends with it what suites have left running. A run fails, too, when a suite leaves something open that keeps its process
 * alive, and a run of all tests when something that passes writes to the screen.
 */
const { spawn } = require('node:child_process')
const { stripVTControlCharacters } = require('node:util')

/** Jest's workers inherit these. Two cores have four of them already: V8's own helpers would only take turns with them. */
const V8_FLAGS = ['--single-threaded', '--min-semi-space-size=16', '--max-semi-space-size=16']
/** Jest says so of a suite that it has to end. */
const LEFT_OPEN = /failed to exit gracefully|did not exit/

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

const args = process.argv.slice(2)
const strays = new StrayLines()
const env = {
  ...process.env,
  ...(process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}),
  NO_DEPRECATION: 'express-session', // it reports a cookie that only cookie-parser has found: a test sends many of them
}
// a group of its own, so that all of it can be stopped
const jest = spawn(process.execPath, [...V8_FLAGS, require.resolve('jest/bin/jest'), ...args], {
  stdio: ['inherit', 'pipe', 'pipe'],
  env,
  detached: true,
})
strays.pass(jest.stdout, process.stdout)
strays.pass(jest.stderr, process.stderr)

function endGroup(signal) {
  try {
    process.kill(-jest.pid, signal)
  } catch {
    // nobody is left
  }
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => endGroup(signal))
jest.once('exit', (code) => {
  endGroup('SIGKILL') // servers of a suite that did not come to its end
  // the last lines; whoever has left the group may hold on to the streams
  const end = () => process.exit(code === 0 ? judgeLines() : (code ?? 1))
  jest.once('close', end)
  setTimeout(end, 1000)
})

/** 1 when tests that pass have written to the screen. Jest lists the tests of a single suite, so all lines are judged of all suites only. */
function judgeLines() {
  const lines = strays.lines.filter((line) => args.length === 0 || LEFT_OPEN.test(line))
  if (lines.length === 0) return 0
  console.error(`Tests that pass are quiet, but these lines were written:\n${lines.join('\n')}`)
  return 1
}
