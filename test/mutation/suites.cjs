/**
 * Runs suites with Jest's own describe, test and expect, without the rest of Jest: the packages stay loaded, lib and the suites are
 * loaded anew for each run. That takes milliseconds where Jest takes a second.
 */
const { existsSync, readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const path = require('node:path')
const { transformSync } = require('@swc/core')
const { jestExpect } = require('@jest/expect')
const { ModernFakeTimers } = require('@jest/fake-timers')
const circus = require('jest-circus')
const { ModuleMocker } = require('jest-mock')

/** Time of one test; of one that an answer never reaches, where only the first failure counts, less. */
const [TEST_MS, SHORT_TEST_MS] = [20_000, 4000]
const swc = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022', transform: { hidden: { jest: true } } }, // mocks come before imports
  module: { type: 'commonjs' },
  isModule: true,
  swcrc: false,
}

/** @param sandbox folder whose TypeScript is compiled once, and loaded anew by `forget` */
function loadTypeScript(sandbox) {
  const compiled = new Map()
  require.extensions['.ts'] = (module, file) => {
    if (!compiled.has(file))
      compiled.set(file, transformSync(readFileSync(file, 'utf8'), { ...swc, filename: file }).code)
    module._compile(compiled.get(file), file)
  }
  const parts = [path.join(sandbox, 'lib', path.sep), path.join(sandbox, 'test', path.sep)]
  const loaded = () => Object.keys(require.cache).filter((file) => parts.some((part) => file.startsWith(part)))
  return {
    loaded,
    load: (file) => require(file),
    forget() {
      for (const file of loaded()) delete require.cache[file]
    },
  }
}

/** What suites find in Jest's global scope. @returns what puts back everything that a suite replaced */
function defineGlobals() {
  const mocker = new ModuleMocker(globalThis)
  const timers = new ModernFakeTimers({ config: { fakeTimers: {}, rootDir: '/' }, global: globalThis })
  const test = circus.test
  test.concurrent = test // one after another, or nobody knows which test reached a mutant
  const { describe, beforeAll, afterAll, beforeEach, afterEach } = circus
  const jest = {
    fn: mocker.fn.bind(mocker),
    spyOn: mocker.spyOn.bind(mocker),
    replaceProperty: mocker.replaceProperty.bind(mocker),
    restoreAllMocks: () => mocker.restoreAllMocks(),
    useFakeTimers: (options) => timers.useFakeTimers(options),
    useRealTimers: () => timers.useRealTimers(),
    setSystemTime: (now) => timers.setSystemTime(now),
    advanceTimersByTime: (ms) => timers.advanceTimersByTime(ms),
    advanceTimersByTimeAsync: (ms) => timers.advanceTimersByTimeAsync(ms),
    getTimerCount: () => timers.getTimerCount(),
    async isolateModulesAsync(work) {
      const cache = { ...require.cache }
      for (const file of Object.keys(cache)) delete require.cache[file]
      await work().finally(() => Object.assign(require.cache, cache))
    },
    setTimeout() {}, // a mutant has no more time than TEST_MS
    unmock() {}, // support/patient.ts is not loaded, so there is nothing to unmock
  }
  Object.assign(globalThis, { test, it: test, describe, beforeAll, afterAll, beforeEach, afterEach, jest })
  globalThis.expect = jestExpect
  const environment = { ...process.env }
  return () => {
    mocker.restoreAllMocks()
    timers.useRealTimers()
    for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
    Object.assign(process.env, environment)
  }
}

/** Replaces a module for whatever is loaded after it, until everything is forgotten. @param from what finds it by its name */
function mocksFor(from) {
  const requireActual = (name) => {
    const target = from.resolve(name)
    const { [target]: replaced } = require.cache
    delete require.cache[target]
    const actual = from(target)
    if (replaced) require.cache[target] = replaced
    return actual
  }
  const mock = (name, make) => {
    const target = from.resolve(name)
    require.cache[target] = { id: target, filename: target, loaded: true, exports: make() }
  }
  return { mock, requireActual }
}

/** An error in the title of a row brings its stack along, which differs from run to run. */
const titleOf = (names) => names.join(' ').replace(/\n\s+at [\s\S]*/, '')

function testsOf({ children }) {
  return children.flatMap((child) => (child.type === 'test' ? [child] : testsOf(child)))
}

/** @param sandbox the folder with lib and test */
function makeSuites(sandbox) {
  const { load, loaded, forget } = loadTypeScript(sandbox)
  const restore = defineGlobals()
  const fileOf = (suite) => {
    const place = path.join(sandbox, 'test', suite)
    return existsSync(`${place}.test.ts`) ? `${place}.test.ts` : `${place}.ts`
  }
  let course = {}
  const idOf = (test) => {
    const names = [test.name]
    for (let block = test.parent; block.parent; block = block.parent) names.unshift(block.name)
    return `${course.suite}: ${titleOf(names)}`
  }
  circus.addEventHandler(({ name, test }, { rootDescribeBlock }) => {
    if (name === 'run_start' && course.wanted)
      for (const one of testsOf(rootDescribeBlock)) if (!course.wanted.has(idOf(one))) one.mode = 'skip'
    if (name === 'test_fn_failure' || name === 'hook_failure') course.hasFailed = true
    if (name === 'test_start' && course.isShort && course.hasFailed) test.mode = 'skip'
    if (name === 'test_start') course.onTest?.(idOf(test))
    if (name === 'test_done') course.onTest?.(undefined)
  })

  /**
   * Runs one suite.
   * @param suite its path below test, without `.test.ts`, or `.ts` where it is for mutants only
   * @param options `wanted`: names of tests, or all; `isShort`: stop at the first failure; `onTest`: told the name of a test that
   * begins, and undefined at its end
   */
  return async function run(suite, options) {
    course = { ...options, suite, hasFailed: false }
    circus.resetState()
    globalThis[Symbol.for('TEST_TIMEOUT_SYMBOL')] = options.isShort ? SHORT_TEST_MS : TEST_MS
    forget()
    const file = fileOf(suite)
    Object.assign(jest, mocksFor(createRequire(file)))
    try {
      load(file)
      const { testResults, unhandledErrors } = await circus.run()
      const results = testResults.map(({ testPath, status, errors, duration }) => ({
        id: `${suite}: ${titleOf(testPath.slice(1))}`,
        file,
        status,
        error: errors[0],
        ms: duration ?? 0,
      }))
      return { results, error: unhandledErrors[0], loaded: loaded() }
    } catch (error) {
      return { results: [], error: String(error?.stack ?? error) }
    } finally {
      restore()
    }
  }
}

module.exports = { makeSuites }
