import { cookieHeader } from '../support/addresses'
import type { Browser } from '../support/agent'
import { readJwt } from '../support/oracle'
import { basket, hop, type Keeping, keepings, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { ada, logInAtLast, present, view } from '../support/setup'

/* What the site keeps in `req.session` stays when a user logs in: all of it, once, whatever happens at the same time. */

let setup: PausableSetup

afterEach(() => setup.close())

const put = (browser: Browser, item: string) => browser.fetchJson(setup.at(`/put?item=${item}`))
const basketOf = async (browser: Browser) => basket(await browser.visit(setup.at('/basket')))

const loggedInWithBook = { status: 'loggedin', username: 'ada', basket: ['book'] }

/** A visitor with a book in the basket. */
async function visitorOf(keeping: Keeping): Promise<Browser> {
  setup = await startPausableSetup({ keeping })
  const browser = setup.browser()
  await browser.visit(setup.at('/'))
  expect(basket(await put(browser, 'book')).basket).toEqual(['book'])
  return browser
}

const submit = (browser: Browser) => browser.submit(setup.at('/login'), { ...ada, return_to: '/basket' })

describe.each(keepings)('with %s', (keeping) => {
  test('[S20] four submits of the login at once, at two processes, leave the basket as is', async () => {
    const browser = await visitorOf(keeping)
    setup.serveFrom(setup.first, await setup.addReadyProcess())
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 100, times: 1 })
    const enter = async (query: string) =>
      (await browser.fetchJson(setup.at(`/enter${query}`), { json: {} })).json.status
    // of each kind, one is not the first
    const statuses = await Promise.all(['', '', '?then=check', '?then=check'].map(enter))
    expect(new Set(statuses)).toEqual(new Set(['loggedin']))
    expect(setup.countCalls('authenticate')).toBe(1)
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
  })

  test('[S20] inactivity of two hours at the SSO system ends a login with its basket, and leaves the basket of other users', async () => {
    const browser = await visitorOf(keeping)
    setup.emulator.clock.advance(7200)
    expect(await basketOf(browser)).toEqual({ status: 'anon', basket: ['book'] })
    await submit(browser)
    for (const _again of [1, 2, 3]) {
      setup.emulator.clock.advance(6000)
      expect(await basketOf(browser)).toEqual(loggedInWithBook)
    }
    setup.emulator.clock.advance(7200)
    expect(await basketOf(browser)).toEqual({ status: 'anon', basket: [] })
  })

  /** A login by the form, and one that a status check sees. */
  const logins: [what: string, begin: (browser: Browser) => Promise<unknown>, end: typeof submit][] = [
    ['Authenticate', async () => {}, submit],
    [
      'a check that notices the login',
      async (browser) => {
        await logInAtLast(browser, setup.evening)
        setup.emulator.clock.advance(361)
      },
      (browser) => browser.visit(setup.at('/basket')),
    ],
  ]
  test.each(logins)('[S20] what another tab changes in the session during %s goes along', async (_what, begin, end) => {
    const browser = await visitorOf(keeping)
    await browser.visit(setup.at('/keep'))
    await begin(browser)
    const held = setup.naming.close()
    const login = end(browser)
    await held.arrived
    const gate = setup.gates.add()
    const save = browser.fetchJson(setup.at(`/save?gate=${gate.name}&value=changed`))
    await gate.arrived
    gate.open()
    await save
    expect(basket(await put(browser, 'pen')).basket).toEqual(['book', 'pen'])
    held.open()
    await login
    expect(view(await browser.visit(setup.at('/')))).toMatchObject({ status: 'loggedin', saved: 'changed' })
    expect(await basketOf(browser)).toEqual({ status: 'loggedin', username: 'ada', basket: ['book', 'pen'] })
  })
})

test.each<[keeping: Keeping, what: string, isCookieKept: boolean, item: string]>([
  ['Redis', 'saves nothing and leaves the cookie of the other', true, 'book'],
  ['a session of its own', 'has no login, and the data of one are kept', false, 'pen'],
])(
  '[S20] two requests log the browser in at once (%s) → the later one %s',
  async (keeping, _what, isCookieKept, item) => {
    const browser = await visitorOf(keeping)
    await logInAtLast(browser, setup.evening)
    setup.emulator.clock.advance(361)
    const held = setup.naming.close()
    const late = put(browser, 'pen')
    await held.arrived
    const { json } = await browser.fetchJson(setup.at('/identify-me'))
    await browser.visit(json.identify)
    held.open()
    expect([basket(await late).status, (await late).headers['set-cookie'] === undefined]).toEqual([
      'none',
      isCookieKept,
    ])
    expect(await basketOf(browser)).toEqual({ ...loggedInWithBook, basket: [item] })
  },
)

test('[S20] the data of a login that a slow page saves again after the logout are shown to nobody (a session of its own)', async () => {
  setup = await startPausableSetup({ keeping: 'a session of its own' })
  const browser = await setup.loggedInBrowser()
  await put(browser, 'book')
  const headers = { cookie: cookieHeader(browser, setup.at('/')) }
  const gate = setup.gates.add()
  const slow = browser.fetchJson(setup.at(`/save?gate=${gate.name}`))
  await gate.arrived
  await browser.submit(setup.at('/logout'), {})
  gate.open()
  await slow
  const { json } = await setup.browser().fetchJson(setup.at('/basket'), { headers })
  expect(json).toEqual({ status: 'none', basket: [] })
})

test.each(keepings)(
  '[S20, L10] a login of %s that a check sees has what its handler wrote, and another account has nothing, nor during a response',
  async (keeping) => {
    let accountId = 'ada'
    const site = { loadUser: () => ({ accountId, username: accountId }) }
    // each check asks for a ticket, because the access token ends before the next check
    const emulator = { limits: { accessTokenSeconds: 300 } }
    setup = await startPausableSetup({ keeping, usesDefaultHooks: true, site, emulator })
    const browser = setup.browser()
    await browser.visit(setup.at('/keep'))
    await put(browser, 'book')
    await logInAtLast(browser, setup.evening)
    const login = await put(browser, 'pen&then=forget and check')
    expect([basket(login).basket, login.headers['cache-control']]).toEqual([['book', 'pen'], 'private, no-store'])
    expect((await browser.fetchJson(setup.at('/'))).json).not.toHaveProperty('saved')
    accountId = 'grace'
    const empty = { status: 'loggedin', username: 'grace', basket: [] }
    expect(basket(await put(browser, 'cup&then=forget and check'))).toEqual(empty)
    accountId = 'ada'
    await put(browser, 'book')
    const [before, gate] = [setup.countCalls('sessionstatus'), setup.gates.add()]
    const stream = browser.fetchJson(setup.at(`/stream?gate=${gate.name}`))
    await gate.arrived
    gate.open()
    expect((await stream).body).toBe('data: hello\n\ndata: none\n\n')
    expect(setup.countCalls('sessionstatus') - before).toBe(1)
    expect(await basketOf(browser)).toEqual({ ...empty, username: 'ada' })
  },
)

const sidOf = (landing: string) => readJwt(present(new URL(landing).searchParams.get('t'))).claims['sid']

test.each(['Redis', 'memory'] as const)(
  '[S20] of two tabs with a session of the SSO system each (%s), one logs in before the other comes back → it stays logged in',
  async (keeping) => {
    setup = await startPausableSetup({ keeping })
    const browser = setup.browser()
    const platform = new URL(setup.emulator.url).hostname
    const landings: string[] = []
    for (const tab of [1, 2]) {
      landings.push(await hop(browser, await hop(browser, setup.at(`/basket?tab=${tab}`))))
      browser.dropCookies(({ host }) => host === platform)
      setup.emulator.clock.advance(1)
    }
    expect(new Set(landings.map(sidOf)).size).toBe(2)
    await put(browser, 'book')
    await hop(browser, present(landings[0]))
    await submit(browser)
    await hop(browser, present(landings[1]))
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
  },
)
