/** The runner that Stryker talks to, in a process of its own whose folder is a copy of the project. */
import { readFileSync, writeFileSync } from 'node:fs'
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin'
import { determineHitLimitReached, toMutantRunResult } from '@stryker-mutator/api/test-runner'
import { startRedis } from './redis.mjs'
import { makeSuites } from './suites.cjs'

const SUITES = '.suites.json' // the worker of the first run tells the others how long each suite took, and what it loaded
const STATUS = { done: 0, skip: 2, todo: 2 }
const FAILED = 1

const asTest = ({ id, file, status, error, ms }) => ({
  id,
  fileName: file,
  name: id,
  timeSpentMs: ms,
  status: error ? FAILED : STATUS[status],
  failureMessage: error,
})

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0)

class SuitesRunner {
  static inject = tokens(commonTokens.options)

  constructor({ suites: names }) {
    this.names = names
  }

  capabilities() {
    return { reloadEnvironment: true }
  }

  async init() {
    this.noticedBy = new Map()
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
      const beganAt = performance.now()
      const { results, error, loaded } = await this.run(suite, { onTest })
      if (error) return { status: 'error', errorMessage: `${suite}: ${error}` }
      const msOf = Object.fromEntries(results.map(({ id, ms }) => [id, ms]))
      known[suite] = { setupMs: performance.now() - beganAt - sum(Object.values(msOf)), msOf, loaded }
      tests.push(...results.map(asTest))
    }
    writeFileSync(SUITES, JSON.stringify(known))
    return { status: 'complete', tests, mutantCoverage: this.context.mutantCoverage }
  }

  /**
   * Runs first the test that noticed the last mutant of the file, because neighbours are noticed by the same test. Then the shortest suites
   * first, and none after the one that noticed. What runs when a file is loaded is held by whoever loads it.
   */
  async mutantRun({ activeMutant, testFilter, hitLimit, sandboxFileName }) {
    const known = JSON.parse(readFileSync(SUITES, 'utf8'))
    const wanted = testFilter && new Set(testFilter)
    const testsOf = (suite) => Object.keys(known[suite].msOf).filter((id) => !wanted || wanted.has(id))
    const costOf = (suite) => known[suite].setupMs + sum(testsOf(suite).map((id) => known[suite].msOf[id]))
    const isWanted = (suite) => (wanted ? testsOf(suite).length > 0 : known[suite].loaded.includes(sandboxFileName))
    const runs = this.names
      .filter(isWanted)
      .sort((a, b) => costOf(a) - costOf(b))
      .map((suite) => ({ suite, wanted }))
    const last = this.noticedBy.get(sandboxFileName)
    if (last && wanted?.has(last.id)) runs.unshift({ suite: last.suite, wanted: new Set([last.id]) })
    const { context } = this
    Object.assign(context, { activeMutant: activeMutant.id, hitCount: hitLimit ? 0 : undefined, hitLimit })
    const tests = new Map()
    for (const { suite, wanted } of runs) {
      const { results, error } = await this.run(suite, { wanted, isShort: true })
      const limited = determineHitLimitReached(context.hitCount, context.hitLimit)
      if (limited) return toMutantRunResult(limited)
      // two rows of a test may have one title, and a failure skips the second
      for (const result of results) if (tests.get(result.id)?.status !== FAILED) tests.set(result.id, asTest(result))
      const all = `${suite}: the suite`
      if (error) tests.set(all, asTest({ id: all, status: 'done', error: String(error), ms: 0 }))
      const noticed = results.find((result) => result.error)
      if (noticed) this.noticedBy.set(sandboxFileName, { suite, id: noticed.id })
      if (noticed || error) break
    }
    return toMutantRunResult({ status: 'complete', tests: [...tests.values()] }, false)
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'suites', SuitesRunner)]
/** The one option of this runner. */
export const strykerValidationSchema = {
  properties: { suites: { type: 'array', items: { type: 'string' } } },
}
