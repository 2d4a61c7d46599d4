import { demoOptions } from '../../lib/emulator'
import type { Browser } from '../support/agent'
import { type FailingStore, failingStore } from '../support/failing-store'
import { eventually, logInAtLast, present, type Setup, startSetup, view } from '../support/setup'

/*
 * Redis goes away in the middle of a logout, before it answers one of its commands, each in turn. Redis may have carried out nothing,
 * a part, or all. When Redis is back and the browser returns, it is anonymous here and at the SSO system, and a copy of its old
 * cookie opens nothing.
 */

/** Accounts that one browser each logs in with: what one of them ends is not the others'. */
const users = Array.from({ length: 50 }, (_, index) => ({
  accountId: `account-${index}`,
  username: `user${index}`,
  password: `password-of-user-${index}`,
}))

const cases: [what: string, path: string, isAtNextPage: boolean][] = [
  ['a logout', '/logout', false],
  ['a logout of all', '/logout-all', false],
  ['the page after a logout that the store was not told of', '/logout', true],
  ['the page after a logout of all that the store was not told of', '/logout-all', true],
]

test.concurrent.each(cases)('[I5] %s', async (_what, path, isAtNextPage) => {
  const store = failingStore()
  const accounts = [...present(demoOptions().accounts), ...users]
  const site = (name: string) => (name === 'morning' ? { redis: store.client } : {})
  const setup = await startSetup({ emulator: { accounts }, site })
  const { browsers, copies } = await atEachCommand(setup, store, path, isAtNextPage)
  await Promise.all(browsers.map((browser, commands) => expectOver(setup, browser, commands)))
  await Promise.all(copies.map((cookie, commands) => expectVoid(setup, cookie, commands)))
  expect(browsers.length).toBeGreaterThan(4)
  expect(setup.emulator.sessions().filter(({ status }) => status === 'loggedin')).toEqual([])
  await setup.close()
  store.client.disconnect()
})

/** A copy of a session cookie must open nothing. */
async function expectVoid({ morning, browser }: Setup, cookie: string, commands: number): Promise<void> {
  let last: unknown
  const isVoid = async () => {
    const { json } = await browser().fetchJson(`${morning.url}/`, { headers: { cookie } })
    last = [commands, json.status === 'loggedin']
    return json.status !== 'loggedin'
  }
  await eventually(isVoid).catch(() => undefined)
  expect(last).toEqual([commands, false])
}

async function expectOver({ morning }: Setup, browser: Browser, commands: number): Promise<void> {
  let last: unknown
  const isOver = async () => {
    const { status, degraded } = view(await browser.visit(`${morning.url}/`))
    last = [commands, status, degraded]
    return status === 'anon' && degraded === undefined
  }
  await eventually(isOver).catch(() => undefined)
  expect(last).toEqual([commands, 'anon', undefined])
}

/** One more logout than there are commands in it: the last one is undisturbed. @returns the browsers, and copies of their session cookies */
async function atEachCommand(
  setup: Setup,
  store: FailingStore,
  path: string,
  isAtNextPage: boolean,
): Promise<{ browsers: Browser[]; copies: string[] }> {
  const { url, sso } = setup.morning
  const browsers: Browser[] = []
  const copies: string[] = []
  const logOut = (browser: Browser) => browser.fetchJson(`${url}${path}`, { json: {} })
  for (let isOver = false; !isOver; ) {
    const browser = setup.browser()
    const commands = browsers.push(browser) - 1
    await logInAtLast(browser, setup.morning, present(users[commands]))
    copies.push(`sso2.sid=${present(browser.cookie('sso2.sid'))}`)
    if (isAtNextPage) {
      store.goAwayAfter(0, false)
      await logOut(browser)
      await store.comeBack(sso)
    }
    store.goAwayAfter(commands, true)
    const { status } = isAtNextPage ? await browser.visit(`${url}/`) : await logOut(browser)
    expect(status).toBe(200)
    isOver = store.asked <= commands
    await store.comeBack(sso)
  }
  return { browsers, copies }
}
