import { type DeferredLogout, LogoutMemory } from '../../lib/storage/logout-memory'
import { resumeDeferredLogouts } from '../../lib/web/actions/finish-logout'
import type { Site } from '../../lib/web/site'

/* What a process remembers of logouts whose sessions Redis did not return. test/flows/deferred-logout.test.ts has the rest. */

const device = { ipa: '192.0.2.1', uas: 'a browser' }

/** A site whose Redis never answers, and the keys that it was asked for. */
function siteWithoutRedis(deferredLogouts: LogoutMemory<DeferredLogout>) {
  const asked: string[] = []
  const read = async (key: string) => {
    asked.push(key)
    return 'unavailable'
  }
  return { site: { records: { read, isAvailable: true }, deferredLogouts } as unknown as Site, asked }
}

test('a process remembers 10,000 logouts, forgets the oldest first, and tries each in turn', async () => {
  const logouts = new LogoutMemory<DeferredLogout>()
  for (let index = 0; index <= 10_000; index += 1)
    logouts.set(`k${index}`, { of: 'session', key: `k${index}`, isAll: false, isConfirmed: false, device })
  const { site, asked } = siteWithoutRedis(logouts)
  await resumeDeferredLogouts(site)
  expect(asked).toEqual(Array.from({ length: 10_000 }, (_, index) => `k${index + 1}`))
})

test('logouts stay remembered while Redis is away, each session once', async () => {
  const logouts = new LogoutMemory<DeferredLogout>()
  logouts.set('k', { of: 'session', key: 'k', isAll: true, isConfirmed: false, device })
  logouts.set('k', { of: 'session', key: 'k', isAll: false, isConfirmed: false, device })
  const { site, asked } = siteWithoutRedis(logouts)
  await resumeDeferredLogouts(site)
  await resumeDeferredLogouts(site, performance.now()) // a process that stops has no time left
  await resumeDeferredLogouts(site)
  expect(asked).toEqual(['k', 'k'])
})
