/**
 * Changes the code of a folder in every way that Stryker knows, one change at a time, and runs the tests that reach it. A change that no
 * test notices means that a test is missing, or that code is dead; some changes make no difference.
 *
 *   node tools/mutation [decide protocol storage flows] [--mutate lib/decide/return-to.ts]
 *
 * Without names: all four. Prints the changes that survive, and the score; exit 1 below 85 %. Takes minutes for a file and up to an hour for
 * a folder. The first run installs Stryker into this folder. Results are kept in .stryker-tmp, so that only what has changed is judged again.
 */
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { parseArgs } = require('node:util')
const { root } = require('../start.js')

/** What is changed, and the suites that are to notice. */
const groups = {
  decide: {
    folder: 'lib/decide',
    suites: ['unit/{branding-options,decisions,login,logout-mark,navigation,record,return-to,signatures}'],
  },
  protocol: {
    folder: 'lib/protocol',
    suites: ['unit/{signatures,tokens}', 'remote/sso2-client', 'security/token-answers'],
  },
  storage: { folder: 'lib/storage', suites: ['storage/*', 'unit/failure-advice'] },
  flows: {
    folder: 'lib/web/flows',
    suites: [
      'http/{access-token,guards,hooks,landing,limits,login,logout,outages,session,status-check}*',
      'security/{landing,limits,login-form,poisoned-account,races,session-ids,tossed-session}',
    ],
  },
}
const LEAST_SCORE = 85
const modules = path.join(__dirname, 'node_modules')
const stryker = path.join(modules, '@stryker-mutator/core/bin/stryker.js')
const place = path.join(root, '.stryker-tmp')

/** @returns true where enough changes were noticed */
function mutate(name, { mutate: file }) {
  const { folder, suites } = groups[name]
  const config = {
    mutate: [file ?? `${folder}/**/*.ts`],
    ignorePatterns: ['examples', 'example-app', 'dist', '.stryker-tmp'],
    testRunner: 'jest',
    plugins: [path.join(modules, '@stryker-mutator/jest-runner/dist/src/index.js')],
    jest: {
      config: {
        roots: ['<rootDir>/lib', '<rootDir>/test'], // or Jest does not see which suites reach a file by another file
        testMatch: suites.map((suite) => `**/test/${suite}.test.ts`),
        testEnvironment: require.resolve('./environment.js'),
        testSequencer: '@jest/test-sequencer',
        maxWorkers: 1,
        testTimeout: 20_000, // a change by which a request hangs is noticed sooner
      },
    },
    coverageAnalysis: 'perTest',
    concurrency: 3, // of two cores: most changes that are noticed late make a test wait
    tsconfigFile: 'none.json', // its paths are of no use in the copy
    incremental: true,
    incrementalFile: path.join(place, `${name}.json`),
    tempDirName: path.join(place, name),
    reporters: ['progress-append-only', 'clear-text'],
    clearTextReporter: { logTests: false, allowColor: false },
    thresholds: { high: 100, low: LEAST_SCORE, break: LEAST_SCORE },
    timeoutMS: 30_000, // a machine with other work is slow: only what never ends counts as noticed
    timeoutFactor: 1.2,
    warnings: { slow: false },
  }
  const configFile = path.join(place, `${name}.config.json`)
  fs.writeFileSync(configFile, JSON.stringify(config))
  return spawnSync(process.execPath, [stryker, 'run', configFile], { cwd: root, stdio: 'inherit' }).status === 0
}

const { values, positionals } = parseArgs({ options: { mutate: { type: 'string' } }, allowPositionals: true })
if (!fs.existsSync(stryker))
  spawnSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund'], { cwd: __dirname, stdio: 'inherit' })
fs.mkdirSync(place, { recursive: true })
const names = positionals.length > 0 ? positionals : Object.keys(groups)
process.exitCode = names.filter((name) => !mutate(name, values)).length > 0 ? 1 : 0
