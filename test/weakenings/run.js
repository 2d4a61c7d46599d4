/**
 * Takes each defence of list.js out of a copy of the package and runs the test that must notice.
 * `node test/weakenings/run.js [part of a name or of a test's file]` prints a table; exit 1 when a weakening was not noticed.
 */
const { spawn } = require('node:child_process')
const { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { performance } = require('node:perf_hooks')
const { transformSync } = require('@swc/core')
const weakenings = require('./list.js')

const root = path.join(__dirname, '..', '..')
const WORKERS = 2
const LIMIT_MS = 120_000

function makeCopy() {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-weakened-'))
  const isPart = (name) => !name.startsWith('.git') && name !== 'node_modules'
  for (const part of readdirSync(root).filter(isPart)) {
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir')
  return folder
}

/** Sites in processes of their own run from dist. */
function compile(source) {
  const jsc = { parser: { syntax: 'typescript' }, target: 'es2022' }
  return transformSync(source, { jsc, module: { type: 'commonjs' }, isModule: true, swcrc: false }).code
}

/** Runs some tests of the copy; `failed` is 0 where they all passed, and where none was found. */
function runTests(folder, { test, title }) {
  const report = path.join(folder, 'report.json')
  const args = [
    `test/${test}`,
    '-t',
    title,
    '--runInBand',
    '--silent',
    '--forceExit',
    '--json',
    `--outputFile=${report}`,
  ]
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
  const file = path.join(folder, 'lib', weakening.file)
  const source = readFileSync(file, 'utf8')
  let weakened = source
  for (const { find, replace } of [weakening, ...(weakening.also ?? [])]) {
    const parts = weakened.split(find)
    if (parts.length !== 2) return { failed: 0, why: `the text stands there ${parts.length - 1} times` }
    weakened = parts.join(replace)
  }
  const built = path.join(folder, 'dist', weakening.file.replace(/ts$/, 'js'))
  const before = readFileSync(built, 'utf8')
  writeFileSync(file, weakened)
  writeFileSync(built, compile(weakened))
  try {
    return await runTests(folder, weakening)
  } finally {
    writeFileSync(file, source)
    writeFileSync(built, before)
  }
}

async function main() {
  const [part = ''] = process.argv.slice(2)
  const chosen = weakenings.filter(({ name, test }) => `${name} ${test}`.includes(part))
  const waiting = [...chosen]
  const missed = []
  const work = async () => {
    const folder = makeCopy()
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
  await Promise.all(Array.from({ length: WORKERS }, work))
  console.log(`${chosen.length - missed.length} of ${chosen.length} weakenings caught`)
  process.exitCode = missed.length > 0 || chosen.length === 0 ? 1 : 0
}

main()
