import type { TestRedis } from './redis'

/** Stops the Redis that the set-up started. */
async function teardown(): Promise<void> {
  await (globalThis as typeof globalThis & { testRedis?: TestRedis }).testRedis?.stop()
}

module.exports = teardown
