import type { PendingLogout } from '../../lib/storage/pending-logouts'
import { shortHash } from '../../lib/storage/site-store'
import { atOnce, KEY, NOW, OTHER_KEY, stores, type TestSite, useStore } from './stores'

const logout: PendingLogout = {
  sid: 'the-sid',
  scope: 'session',
  accountId: 'ada',
  since: NOW,
  ipa: '192.0.2.1',
  uas: 'a browser',
}
const ID = shortHash(logout.sid)

describe.each(stores)('in %s', (_name, open) => {
  const store = useStore(open)
  let site: TestSite
  beforeEach(() => {
    site = store.site()
  })
  const dueAt = (now: number) => site.pendingLogouts.due(now, 20)

  test('a logout is found until it is removed', async () => {
    await site.pendingLogouts.add(logout)
    expect([await site.pendingLogouts.find(ID), await site.pendingLogouts.has(ID)]).toEqual([logout, true])
    await site.pendingLogouts.remove(ID)
    expect([await site.pendingLogouts.find(ID), await site.pendingLogouts.has(ID)]).toEqual([undefined, false])
    expect(await dueAt(NOW + 9999)).toEqual([])
  })

  test('a logout is due 8 s after it was added, and later each time that it fails, by at most 120 s', async () => {
    await site.pendingLogouts.add(logout)
    expect([await dueAt(NOW + 7), await dueAt(NOW + 8)]).toEqual([[], [ID]])
    await site.pendingLogouts.postpone(ID, logout, NOW + 10)
    expect([await dueAt(NOW + 19), await dueAt(NOW + 20)]).toEqual([[], [ID]])
    await site.pendingLogouts.postpone(ID, logout, NOW + 1000)
    expect([await dueAt(NOW + 1119), await dueAt(NOW + 1120)]).toEqual([[], [ID]])
  })

  test('a logout of all of the same SSO session stays one, and a logout of one becomes one of all', async () => {
    await site.pendingLogouts.add(logout)
    await site.pendingLogouts.add({ ...logout, scope: 'account' })
    expect(await site.pendingLogouts.find(ID)).toMatchObject({ scope: 'account' })
    await site.pendingLogouts.add({ ...logout, accountId: undefined })
    expect(await site.pendingLogouts.find(ID)).toMatchObject({ scope: 'account', accountId: 'ada' })
  })

  test('one process takes a round, and another one the next', async () => {
    const processes = await atOnce(5, async () => store.site([KEY], site.prefix))
    const taken = await Promise.all(processes.map(({ pendingLogouts }) => pendingLogouts.takeRound()))
    expect(taken.filter(Boolean)).toHaveLength(1)
    await processes[0]?.pendingLogouts.endRound()
    expect(await processes[1]?.pendingLogouts.takeRound()).toBe(true)
  })

  test('nothing is readable in the store, nor with another secret', async () => {
    await site.pendingLogouts.add(logout)
    const value = String(await store.kv().get(`${site.prefix}logout:{${ID}}`))
    for (const text of [logout.sid, logout.accountId ?? '', logout.ipa, logout.uas]) expect(value).not.toContain(text)
    const other = store.site([OTHER_KEY], site.prefix)
    expect([await other.pendingLogouts.find(ID), await other.pendingLogouts.has(ID)]).toEqual([undefined, true])
  })
})
