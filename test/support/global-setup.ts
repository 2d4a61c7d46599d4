import { startRedis, type TestRedis } from './redis'

/** Starts the Redis that all suites share, each under its own key prefix or logical database. */
async function setup(): Promise<void> {
  const redis = await startRedis({ args: ['--databases', '64'] })
  ;(globalThis as typeof globalThis & { testRedis?: TestRedis }).testRedis = redis
  process.env['TEST_REDIS_URL'] = redis.url
}

module.exports = setup
