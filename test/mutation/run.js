#!/usr/bin/env node
/* `npm run test:mutation`: README.md shows its options. */
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const equal = require('./equal.js')
const folders = require('./folders.js')
const { judge, withoutLiving } = require('./report.js')

const LEAST_SCORE = 90
const INSTALL = ['--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
const NOT_COPIED = ['docs/api', 'docs/images', 'docs/site', 'examples', 'example-app', 'test/bench', 'test/mutation']
const root = path.join(__dirname, '..', '..')
const stryker = path.join(__dirname, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js')
const place = path.join(root, '.stryker-tmp')
const reportOf = (name) => path.join(place, `${name}.json`)

/** @param name of a suite, or of a folder of suites, below test */
function suitesOf(name) {
  const folder = path.join(root, 'test', name)
  if (['.test.ts', '.ts'].some((end) => fs.existsSync(folder + end))) return [name]
  const files = fs.readdirSync(folder).filter((file) => file.endsWith('.test.ts'))
  return files.map((file) => `${name}/${file.replace(/\.test\.ts$/, '')}`)
}

function configOf(name, { concurrency, only }) {
  const { mutate, suites } = folders[name]
  return {
    mutate: only ? [only] : mutate,
    ignorePatterns: [...NOT_COPIED, '.stryker-tmp'],
    testRunner: 'suites',
    plugins: [path.join(__dirname, 'runner.mjs')],
    suites: suites.flatMap(suitesOf),
    coverageAnalysis: 'perTest',
    concurrency: Number(concurrency),
    maxTestRunnerReuse: 1000, // what mutants leave open adds up
    timeoutMS: 10_000,
    dryRunTimeoutMinutes: 10,
    incremental: true,
    incrementalFile: reportOf(name),
    reporters: ['progress-append-only'],
    tempDirName: path.join(place, name),
    warnings: { slow: false },
    thresholds: { high: 100, low: LEAST_SCORE, break: null },
    allowConsoleColors: false,
  }
}

/** Stryker takes a survivor's last judgement for granted where the code runs when its file is loaded, whatever the tests are by now. */
function judgeSurvivorsAgain(name) {
  if (!fs.existsSync(reportOf(name))) return
  fs.writeFileSync(reportOf(name), JSON.stringify(withoutLiving(readReport(name))))
}

const readReport = (name) => JSON.parse(fs.readFileSync(reportOf(name), 'utf8'))

/** @returns true where the score is high enough and every survivor is named */
function mutate(name, { force, ...options }) {
  const begin = Date.now()
  judgeSurvivorsAgain(name)
  const config = path.join(place, `${name}.config.json`)
  fs.writeFileSync(config, JSON.stringify(configOf(name, options)))
  const args = [stryker, 'run', config, ...(force ? ['--force'] : [])]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' })
  if (status !== 0) return false
  const { lines, caught, all, named, unnamed } = judge(readReport(name), equal)
  for (const line of lines) console.log(line)
  const score = ((100 * caught) / all).toFixed(1)
  const minutes = ((Date.now() - begin) / 60_000).toFixed(1)
  console.log(`${name}: ${caught} of ${all} caught (${score} %), ${named} equal, ${unnamed} left; ${minutes} minutes`)
  return Number(score) >= LEAST_SCORE && unnamed === 0
}

function main() {
  const { values, positionals } = parseArgs({
    options: {
      concurrency: { type: 'string', default: '2' },
      force: { type: 'boolean', default: false },
      only: { type: 'string' },
    },
    allowPositionals: true,
  })
  const names = positionals.length > 0 ? positionals : Object.keys(folders)
  const strangers = names.filter((name) => !(name in folders))
  if (strangers.length > 0) throw new Error(`no such folder: ${strangers}; there are ${Object.keys(folders)}`)
  if (!fs.existsSync(stryker)) spawnSync('npm', ['install', ...INSTALL], { cwd: __dirname, stdio: 'inherit' })
  fs.mkdirSync(place, { recursive: true })
  const bad = names.filter((name) => !mutate(name, values))
  process.exitCode = bad.length > 0 ? 1 : 0
}

main()
