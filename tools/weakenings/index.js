/**
 * Takes the most important defences (`list.js`) out of a copy of the package, one at a time, and runs the suite that must notice.
 *
 *   node tools/weakenings [--workers 2] [parts of names, of files or of suites]
 *
 * Builds dist first. Exit 1 when a weakening was not noticed, or has come to mean nothing. Takes ten minutes; `security/token-answers` takes one.
 */
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { compile } = require('../../test/support/compile.js')
const { build, root } = require('../start.js')
const weakenings = require('./list.js')
const { weaken } = require('./weaken.js')

const LIMIT_MS = 180_000
/** Large, or of no use to a test. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'coverage', '.stryker-tmp'])

/** @returns a copy of the package, which shares node_modules */
function makeCopy() {
  const folder = fs.mkdtempSync(path.join(tmpdir(), 'sso2-weakened-'))
  fs.cpSync(root, folder, { recursive: true, filter: (file) => !LEFT_OUT.has(path.basename(file)) })
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir')
  return folder
}

/** Runs tests of the copy. @returns whether one failed, and what came of them */
function runTests(folder, { test, threats }) {
  const report = path.join(folder, 'report.json')
  const title = threats.length > 0 ? ['-t', `\\[[^\\]]*\\b(${threats.join('|')})\\b`] : []
  const flags = ['--runInBand', '--silent', '--forceExit', '--json', `--outputFile=${report}`]
  const jest = path.join(root, 'node_modules/jest/bin/jest.js')
  const options = { cwd: folder, stdio: 'ignore', timeout: LIMIT_MS }
  const child = spawn(process.execPath, [jest, `test/${test}`, ...title, ...flags], options)
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      if (code === null) return resolve([false, 'took too long'])
      const { numFailedTests, numPassedTests, numRuntimeErrorTestSuites } = JSON.parse(fs.readFileSync(report, 'utf8'))
      if (numRuntimeErrorTestSuites > 0) return resolve([false, 'the tests could not be run'])
      resolve([numFailedTests > 0, `${numFailedTests} of ${numFailedTests + numPassedTests} failed`])
    })
  })
}

async function tryOut(folder, weakening) {
  const source = path.join(folder, 'lib', weakening.file)
  const built = path.join(folder, 'dist', weakening.file.replace(/ts$/, 'js')) // for sites in processes of their own
  const before = [source, built].map((file) => [file, fs.readFileSync(file)])
  try {
    const text = weaken(fs.readFileSync(source, 'utf8'), weakening)
    fs.writeFileSync(source, text)
    fs.writeFileSync(built, compile(text))
    return await runTests(folder, weakening)
  } catch (error) {
    return [false, error.message]
  } finally {
    for (const [file, content] of before) fs.writeFileSync(file, content)
  }
}

async function main() {
  const { values, positionals } = parseArgs({
    options: { workers: { type: 'string', default: '2' } },
    allowPositionals: true,
  })
  build()
  const isChosen = ({ name, file, test }) => positionals.some((part) => `${name} ${file} ${test}`.includes(part))
  const chosen = positionals.length === 0 ? weakenings : weakenings.filter(isChosen)
  const waiting = [...chosen]
  let missed = 0
  const work = async () => {
    const folder = makeCopy()
    for (let weakening = waiting.shift(); weakening; weakening = waiting.shift()) {
      const begin = Date.now()
      const [isCaught, why] = await tryOut(folder, weakening)
      if (!isCaught) missed += 1
      const seconds = `${Math.round((Date.now() - begin) / 1000)} s`
      console.log(`${isCaught ? 'caught' : 'MISSED'} ${seconds.padStart(6)}  ${weakening.name} (${why})`)
    }
    fs.rmSync(folder, { recursive: true, force: true })
  }
  await Promise.all(Array.from({ length: Number(values.workers) }, work))
  console.log(`${chosen.length - missed} of ${chosen.length} weakenings caught`)
  process.exitCode = missed > 0 || chosen.length === 0 ? 1 : 0
}

main()
