/**
 * Takes each defence of list.js out of a copy of the package and runs the test that must notice.
 * `node test/security-mutations/run.js [--workers 1] [parts of names, of files, or of the files of tests]` prints a table; exit 1 when a
 * weakening was not noticed. Build first: sites in processes of their own run from dist.
 */
const { spawn } = require('node:child_process')
const { readFileSync, rmSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { parseArgs } = require('node:util')
const { makeCopy, root } = require('../support/copy.js')
const weakenings = require('./list.js')
const { compile, weaken } = require('./patch.js')

const LIMIT_MS = 120_000

/** Runs some tests of the copy; `failed` is 0 where they all passed, and where none was found. */
function runTests(folder, { test, title }) {
  const report = path.join(folder, 'report.json')
  const flags = ['--runInBand', '--silent', '--forceExit', '--json', `--outputFile=${report}`]
  const args = [`test/${test}`, '-t', title, ...flags]
  const jest = path.join(root, 'node_modules', 'jest', 'bin', 'jest.js')
  const child = spawn(process.execPath, [jest, ...args], { cwd: folder, stdio: 'ignore', timeout: LIMIT_MS })
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      if (code === null) return resolve({ failed: 0, why: 'took too long' })
      const { numFailedTests, numPassedTests, numRuntimeErrorTestSuites } = JSON.parse(readFileSync(report, 'utf8'))
      const ran = numFailedTests + numPassedTests
      if (numRuntimeErrorTestSuites > 0) return resolve({ failed: 0, why: 'the tests could not be run' })
      resolve({ failed: numFailedTests, why: `${numFailedTests} of ${ran} failed` })
    })
  })
}

async function tryOut(folder, weakening) {
  const weakened = weaken(path.join(folder, 'lib'), weakening)
  if (typeof weakened === 'string') return { failed: 0, why: weakened }
  const before = new Map()
  for (const [file, text] of weakened) {
    const source = path.join(folder, 'lib', file)
    const built = path.join(folder, 'dist', file.replace(/ts$/, 'js'))
    for (const one of [source, built]) before.set(one, readFileSync(one, 'utf8'))
    writeFileSync(source, text)
    writeFileSync(built, compile(text))
  }
  try {
    return await runTests(folder, weakening)
  } finally {
    for (const [file, text] of before) writeFileSync(file, text)
  }
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { workers: { type: 'string', default: '2' } },
    allowPositionals: true,
  })
  const isChosen = ({ name, file, test }) => positionals.some((part) => `${name} ${file} ${test}`.includes(part))
  const chosen = positionals.length === 0 ? weakenings : weakenings.filter(isChosen)
  const waiting = [...chosen]
  const missed = []
  const work = async () => {
    const folder = makeCopy('sso2-weakened-')
    for (let weakening = waiting.shift(); weakening; weakening = waiting.shift()) {
      const start = performance.now()
      const { failed, why } = await tryOut(folder, weakening)
      const seconds = ((performance.now() - start) / 1000).toFixed(1)
      if (failed === 0) missed.push(weakening.name)
      const line = [failed > 0 ? 'caught' : 'MISSED', `${seconds} s`.padStart(7), weakening.name, `(${why})`]
      console.log(line.join('  '))
    }
    rmSync(folder, { recursive: true, force: true })
  }
  await Promise.all(Array.from({ length: Number(values.workers) }, work))
  console.log(`${chosen.length - missed.length} of ${chosen.length} weakenings caught`)
  process.exitCode = missed.length > 0 || chosen.length === 0 ? 1 : 0
}

main()
