import type { Shared } from './global-setup'

/** Ends what the set-up started. */
async function teardown(): Promise<void> {
  await (globalThis as Shared).closeShared?.()
}

module.exports = teardown
