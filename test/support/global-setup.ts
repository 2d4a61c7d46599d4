import { shareBrowser } from './browser'
import { startRedis } from './redis'

export type Shared = typeof globalThis & { closeShared?: () => Promise<unknown> }

/** Starts the Redis that all suites share, each under its own key prefix or logical database, and shares one Chromium. */
async function setup(): Promise<void> {
  const [redis, browser] = await Promise.all([startRedis({ args: ['--databases', '64'] }), shareBrowser()])
  ;(globalThis as Shared).closeShared = () => Promise.all([redis.stop(), browser.close()])
  process.env['TEST_REDIS_URL'] = redis.url
  process.env['TEST_BROWSER_URL'] = browser.url
}

module.exports = setup
