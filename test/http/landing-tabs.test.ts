import { documentHeaders } from '../support/addresses'
import type { Browser } from '../support/agent'
import { ada, loggedInBrowser, type PageView, type Setup, startSetup, view } from '../support/setup'

/* Tabs of one browser that go through Identify at once: each of them gets its page, whatever the others' answers say. */

let setup: Setup
const at = (path: string) => `${setup.morning.url}${path}`

/** A site of its own for each test: after many refused tokens a site keeps visitors from Identify for a while. */
beforeEach(async () => {
  setup = await startSetup()
  await setup.browser().visit(at('/page'))
})
afterEach(async () => {
  jest.restoreAllMocks() // of a test that failed
  await setup.close()
})

interface Tab {
  url: string | undefined
  trips: number
  /** The page that ended the redirects. */
  page?: { status: number; view: PageView }
}

const dropSession = (browser: Browser) => browser.dropCookies(({ name }) => name === 'sso2.sid')

async function hop(browser: Browser, tab: Tab): Promise<void> {
  const { url } = tab
  if (url === undefined) return
  if (url.startsWith(`${setup.emulator.url}/sso/identify`)) tab.trips += 1
  const answer = await browser.fetchJson(url, { headers: documentHeaders })
  const { location } = answer.headers
  tab.url = location && new URL(location, url).href
  if (location === undefined) tab.page = { status: answer.status, view: view(answer) }
}

const together = async (browser: Browser, tabs: readonly Tab[]) => {
  await Promise.all(tabs.map((tab) => hop(browser, tab)))
}
const pages = (count: number) => Array.from({ length: count }, (_, index) => `/page?a=${index}`)

const TABS = 8
const open = () => pages(TABS).map((path): Tab => ({ url: at(path), trips: 0 }))

/** Follows until each tab has its page. A browser gives up a tab at 20 redirects. */
async function follow(browser: Browser, tabs: readonly Tab[]): Promise<void> {
  for (let redirects = 0; redirects <= 20 && tabs.some(({ url }) => url !== undefined); redirects += 1) {
    await together(browser, tabs)
  }
  expect(tabs.map(({ page }) => page)).toMatchObject(pages(TABS).map((url) => ({ status: 200, view: { url } })))
}

test.each(['a new visitor', 'a visitor who is logged in elsewhere'])(
  '[R8] each of eight tabs that %s opens at once ends at its own address, with the status',
  async (who) => {
    const isNew = who === 'a new visitor'
    const browser = isNew ? setup.browser() : await loggedInBrowser(setup)
    if (!isNew) dropSession(browser)
    const tabs = open()
    await follow(browser, tabs)
    const status = isNew ? 'anon' : 'loggedin'
    expect(tabs.map(({ page }) => page?.view)).toMatchObject(tabs.map(() => ({ status })))
    expect(Math.max(...tabs.map(({ trips }) => trips))).toBeLessThanOrEqual(2)
  },
)

/**
 * A new second of site and platform, because two tokens of one second are the same. They stay in it, however long a busy machine takes.
 * @returns lets their clocks go on
 */
function holdSecond(): () => void {
  setup.emulator.clock.advance(1)
  const now = jest.spyOn(Date, 'now').mockReturnValue(Date.now())
  return () => now.mockRestore()
}

const tokenOf = ({ url = '' }: Tab) => new URL(url).searchParams.get('t')

test.each(['anon', 'loggedin'])(
  '[R8] two tabs that land at once, in one second, have each their page, with the session that is %s',
  async (status) => {
    const browser = status === 'loggedin' ? await loggedInBrowser(setup) : setup.browser()
    await browser.visit(at('/page'))
    dropSession(browser)
    const goOn = holdSecond()
    const tabs = pages(2).map((path): Tab => ({ url: at(path), trips: 0 }))
    await together(browser, tabs)
    await together(browser, tabs)
    goOn()
    // a ticket is made for one landing, so only tokens without a ticket are the same
    expect(new Set(tabs.map(tokenOf)).size).toBe(status === 'anon' ? 1 : 2)
    for (let round = 0; round < 9; round += 1) await together(browser, tabs)
    expect(tabs.map(({ url }) => url)).toEqual([undefined, undefined])
    expect(tabs.map(({ trips }) => trips)).toEqual([1, 1])
    expect(tabs.map(({ page }) => page)).toMatchObject(pages(2).map((url) => ({ status: 200, view: { url, status } })))
    expect(view(await browser.fetchJson(at('/page')))).toMatchObject({ status })
    if (status === 'anon') expect((await browser.fetchJson(at('/login'), { json: ada })).status).toBe(200)
  },
)

test('[R8] a landing whose redirect began before the login of another tab keeps that login, and uses no ticket', async () => {
  const browser = await loggedInBrowser(setup)
  dropSession(browser)
  const tabs = pages(2).map((path): Tab => ({ url: at(path), trips: 0 }))
  const [older, newer] = tabs as [Tab, Tab]
  for (const tab of tabs) {
    await hop(browser, tab)
    await hop(browser, tab)
    setup.emulator.clock.advance(1)
  }
  for (let hops = 0; hops < 3; hops += 1) await hop(browser, newer)
  const tickets = () => setup.emulator.calls({ operation: 'token' }).length
  const used = tickets()
  for (let hops = 0; hops < 3; hops += 1) await hop(browser, older)
  expect([newer, older].map(({ page }) => page?.view)).toMatchObject([{ username: 'ada' }, { username: 'ada' }])
  expect(tickets()).toBe(used)
})
