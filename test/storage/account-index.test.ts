import { accountName } from '../../lib/storage/account-index'
import { KEY, stores, type TestSite, useStore } from './stores'

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
