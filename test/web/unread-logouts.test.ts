import { RememberedLogouts, type UnreadLogout } from '../../lib/storage/remembered-logouts'
import { endUnreadSessions } from '../../lib/web/actions/retry-logout'
import type { Site } from '../../lib/web/site'

/* What a process remembers of logouts whose sessions Redis did not return. test/flows/unread-logout.test.ts has the rest. */

const device = { ipa: '192.0.2.1', uas: 'a browser' }

/** A site whose Redis never answers, and the keys that it was asked for. */
function siteWithoutRedis(unreadLogouts: RememberedLogouts<UnreadLogout>) {
  const asked: string[] = []
  const read = async (key: string) => {
    asked.push(key)
    return 'unavailable'
  }
  return { site: { records: { read, isAvailable: true }, unreadLogouts } as unknown as Site, asked }
}

test('a process remembers 10,000 logouts, forgets the oldest first, and tries each in turn', async () => {
  const logouts = new RememberedLogouts<UnreadLogout>()
  for (let index = 0; index <= 10_000; index += 1) logouts.set(`k${index}`, { key: `k${index}`, isAll: false, device })
  const { site, asked } = siteWithoutRedis(logouts)
  await endUnreadSessions(site)
  expect(asked).toEqual(Array.from({ length: 10_000 }, (_, index) => `k${index + 1}`))
})

test('logouts stay remembered while Redis is away, each session once', async () => {
  const logouts = new RememberedLogouts<UnreadLogout>()
  logouts.set('k', { key: 'k', isAll: true, device })
  logouts.set('k', { key: 'k', isAll: false, device })
  const { site, asked } = siteWithoutRedis(logouts)
  await endUnreadSessions(site)
  await endUnreadSessions(site)
  expect(asked).toEqual(['k', 'k'])
})
