import type { Shared } from './global-setup'

async function teardown(): Promise<void> {
  await (globalThis as Shared).closeShared?.()
}

module.exports = teardown
