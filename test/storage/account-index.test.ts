import { accountName } from '../../lib/storage/account-index'
import { KEY, stores, type TestSite, useStore } from './stores'

const MAX_SESSIONS = 1000
const ACCOUNT = accountName('ada')

describe.each(stores)('in %s', (_name, open) => {
  const store = useStore(open)
  let site: TestSite
  beforeEach(() => {
    site = store.site()
  })
  const session = (index: number) => ({ key: `k${index}`, sidHash: `s${index}` })

  test('the sessions of an account are listed, and those of another are not', async () => {
    await site.accounts.add(ACCOUNT, session(1), 10)
    await site.accounts.add(ACCOUNT, session(2), 20)
    await site.accounts.add(accountName('grace'), session(3), 30)
    expect(await site.accounts.list(ACCOUNT)).toEqual([session(1), session(2)])
    await site.accounts.remove(ACCOUNT, [session(1)])
    await site.accounts.remove(ACCOUNT, [])
    expect(await site.accounts.list(ACCOUNT)).toEqual([session(2)])
  })

  test(`beyond ${MAX_SESSIONS} sessions the oldest login is named, and no longer listed`, async () => {
    const index = `${site.prefix}acct:{${ACCOUNT}}`
    const member = ({ key, sidHash }: ReturnType<typeof session>) => `${sidHash}:${key}`
    for (let from = 0; from < MAX_SESSIONS; from += 100) {
      const adds = Array.from({ length: 100 }, (_, at) =>
        store.kv().addMember(index, member(session(from + at)), 1000 + from + at, 60),
      )
      await Promise.all(adds)
    }
    expect(await site.accounts.add(ACCOUNT, session(2000), 5000)).toEqual([session(0)])
    const listed = await site.accounts.list(ACCOUNT)
    expect([listed.length, listed[0], listed.at(-1)]).toEqual([MAX_SESSIONS, session(1), session(2000)])
  })

  test('a logout marks its SSO session, and no other', async () => {
    await site.accounts.markSession('s')
    expect(await site.accounts.marks('s', ACCOUNT)).toEqual({ isSessionOut: true, all: undefined })
    expect(await site.accounts.marks('other', ACCOUNT)).toEqual({ isSessionOut: false, all: undefined })
  })

  test('a logout of all marks its account: open, then with the time of its confirmation and whose clock it is', async () => {
    const otherProcess = store.site([KEY], site.prefix)
    const all = async (process: TestSite) => (await process.accounts.marks('s', ACCOUNT)).all
    await site.accounts.markAccount(ACCOUNT)
    expect(await all(otherProcess)).toMatchObject({ told: 'open' })
    await site.accounts.markAccount(ACCOUNT, 7000)
    expect(await all(site)).toEqual({ told: 7000, isOwnClock: true })
    expect(await all(otherProcess)).toEqual({ told: 7000, isOwnClock: false })
    expect(await otherProcess.accounts.marks('s', accountName('grace'))).toMatchObject({ all: undefined })
  })
})
