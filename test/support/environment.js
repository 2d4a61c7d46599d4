/**
 * Jest's environment for Node.js. It also closes what each suite has opened in `async_hooks`: Jest opens a storage for
 * every suite and leaves it open. Node.js then copies one more field at every promise of all later suites of the process.
 * After 36 suites an `await` took thirteen times as long.
 */
const asyncHooks = require('node:async_hooks')
const { TestEnvironment } = require('jest-environment-node')

const { AsyncLocalStorage } = asyncHooks
const opened = new Set()

asyncHooks.AsyncLocalStorage = class extends AsyncLocalStorage {
  constructor(...options) {
    super(...options)
    opened.add(this)
  }
}

class Environment extends TestEnvironment {
  async teardown() {
    for (const storage of opened) storage.disable()
    opened.clear()
    await super.teardown()
  }
}

module.exports = Environment
