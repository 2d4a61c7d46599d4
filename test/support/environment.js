/**
 * Jest's environment for Node.js, with changes for runs of many suites in one process.
 *
 * It closes what each suite has opened in `async_hooks`: Jest opens a storage for every suite and leaves it open. Node.js then copies one more
 * field at every promise of all later suites of the process. After 36 suites an `await` took thirteen times as long.
 *
 * It compiles each file once for all suites of the process. Every suite still runs the file in a context of its own.
 *
 * A suite that hangs fails, with what it has open (hangs.js).
 */
const asyncHooks = require('node:async_hooks')
const vm = require('node:vm')
const { TestEnvironment } = require('jest-environment-node')
const { hear, tell } = require('./hangs.js')

const { AsyncLocalStorage } = asyncHooks
const opened = new Set()

asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
  constructor(...options) {
    super(...options)
    opened.add(this)
  }
}

const { compileFunction } = vm
/** The compiled files of this process, by name. */
const scripts = new Map()

vm.compileFunction = (source, parameters, options) => {
  const { filename, parsingContext, importModuleDynamically } = options
  if (!parsingContext) return compileFunction(source, parameters, options)
  const found = scripts.get(filename)
  if (found?.source === source) return found.script.runInContext(parsingContext)
  const opening = `(function (${parameters.join(', ')}) {`
  const more = { filename, columnOffset: -opening.length, importModuleDynamically }
  const script = new vm.Script(`${opening}${source}\n})`, more)
  scripts.set(filename, { source, script })
  return script.runInContext(parsingContext)
}

class Environment extends TestEnvironment {
  constructor(config, context) {
    super(config, context)
    this.suite = context.testPath
    hear(this.suite)
  }
  handleTestEvent({ error }) {
    hear(this.suite)
    if (/^Exceeded timeout/.test(error?.message ?? error)) tell()
  }
  async teardown() {
    for (const storage of opened) storage.disable()
    opened.clear()
    await super.teardown()
    if (process.send) hear(undefined) // a worker waits for its next suite
  }
}

module.exports = Environment
