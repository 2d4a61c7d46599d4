/** The runner that Stryker talks to, in a process of its own whose folder is a copy of the project. */
import { readFileSync, writeFileSync } from 'node:fs'
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import { determineHitLimitReached, toMutantRunResult } from '@stryker-mutator/api/test-runner'
import { startRedis } from './redis.mjs'
import { makeSuites } from './suites.cjs'

const SUITES = '.suites.json' // the worker of the first run tells the others how long each suite took, and what it loaded
const STATUS = { done: 0, skip: 2, todo: 2 }

const asTest = ({ id, file, status, error, ms }) => ({
  id,
  fileName: file,
  name: id,
  timeSpentMs: ms,
  status: error ? 1 : STATUS[status],
  failureMessage: error,
})

class SuitesRunner {
  static inject = tokens(commonTokens.options)

  constructor({ suites: names }) {
    this.names = names
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  async init() {
    for (const event of ['uncaughtException', 'unhandledRejection']) process.on(event, () => {}) // what a mutant left behind
    for (const level of ['log', 'info', 'warn', 'error', 'debug']) console[level] = () => {}
    Object.assign(process.env, { NODE_ENV: 'test', TEST_REDIS_URL: await startRedis() })
    this.run = makeSuites(process.cwd())
    this.context = globalThis.__stryker__ = {}
  }

  async dryRun() {
    const known = {}
    const tests = []
    const onTest = (id) => {
      this.context.currentTestId = id
    }
    for (const suite of this.names) {
      const { results, error, loaded } = await this.run(suite, { onTest })
      if (error) return { status: 'error', errorMessage: `${suite}: ${error}` }
      known[suite] = { ms: results.reduce((sum, { ms }) => sum + ms, 0), loaded }
      tests.push(...results.map(asTest))
    }
    writeFileSync(SUITES, JSON.stringify(known))
    return { status: 'complete', tests, mutantCoverage: this.context.mutantCoverage }
  }

  /** Shortest suites first, and none after the one that noticed. What runs when a file is loaded is held by whoever loads it. */
  async mutantRun({ activeMutant, testFilter, hitLimit, sandboxFileName }) {
    const known = JSON.parse(readFileSync(SUITES, 'utf8'))
    const wanted = testFilter && new Set(testFilter)
    const isWanted = (suite) =>
      testFilter ? testFilter.some((id) => id.startsWith(`${suite}: `)) : known[suite].loaded.includes(sandboxFileName)
    const { context } = this
    Object.assign(context, { activeMutant: activeMutant.id, hitCount: hitLimit ? 0 : undefined, hitLimit })
    const tests = []
    for (const suite of this.names.filter(isWanted).sort((a, b) => known[a].ms - known[b].ms)) {
      const { results, error } = await this.run(suite, { wanted, isShort: true })
      const limited = determineHitLimitReached(context.hitCount, context.hitLimit)
      if (limited) return toMutantRunResult(limited)
      tests.push(...results.map(asTest))
      if (error) tests.push(asTest({ id: `${suite}: the suite`, status: 'done', error: String(error), ms: 0 }))
      if (tests.some(({ status }) => status === 1)) break
    }
    return toMutantRunResult({ status: 'complete', tests }, false)
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'suites', SuitesRunner)]
/** The one option of this runner. */
export const strykerValidationSchema = {
  properties: { suites: { type: 'array', items: { type: 'string' } } },
}
