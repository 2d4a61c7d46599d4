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
const script = (browser: Browser) => browser.fetchJson(setup.at('/login'), { json: ada })

describe.each(keepings)('with %s', (keeping) => {
  test('[S20] two submits of the login at once, at two processes, leave the basket as is', async () => {
    const browser = await visitorOf(keeping)
    setup.serveFrom(setup.first, await setup.addReadyProcess())
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 100, times: 1 })
    const answers = await Promise.all([script(browser), script(browser)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
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

test('[S20] two requests log the browser in at once → the later one saves nothing and leaves the cookie of the other', async () => {
  const browser = await visitorOf('Redis')
  await logInAtLast(browser, setup.evening)
  setup.emulator.clock.advance(361)
  const held = setup.naming.close()
  const late = put(browser, 'pen')
  await held.arrived
  const { json } = await browser.fetchJson(setup.at('/identify-me'))
  await browser.visit(json.identify)
  held.open()
  expect((await late).headers['set-cookie']).toBeUndefined()
  expect(await basketOf(browser)).toEqual(loggedInWithBook)
})

test.each(keepings)(
  '[L10] a check during a response ends the login of %s that has become one of another account, after one question',
  async (keeping) => {
    let accountId = 'ada'
    const site = { loadUser: () => ({ accountId, username: accountId }) }
    // each check asks for a ticket, because the access token ends before the next check
    const emulator = { limits: { accessTokenSeconds: 300 } }
    setup = await startPausableSetup({ keeping, usesDefaultHooks: true, site, emulator })
    const browser = await setup.loggedInBrowser()
    expect((await put(browser, 'book')).status).toBe(200)
    accountId = 'grace'
    const gate = setup.gates.add()
    const stream = browser.fetchJson(setup.at(`/stream?gate=${gate.name}`))
    await gate.arrived
    gate.open()
    expect((await stream).body).toBe('data: hello\n\ndata: none\n\n')
    expect(setup.countCalls('sessionstatus')).toBe(1)
    expect(await basketOf(browser)).toEqual({ status: 'loggedin', username: 'grace', basket: [] })
  },
)

const sidOf = (landing: string) => readJwt(present(new URL(landing).searchParams.get('t'))).claims['sid']

/** Two tabs of a new visitor went to Identify at once, which has made a session for each. @returns where they land, and how */
async function twoTabsApart(keeping: Keeping) {
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
  const [first = '', second = ''] = landings
  return { browser, first, second }
}

describe.each(['Redis', 'memory'] as const)('two tabs with a session of the SSO system each (%s)', (keeping) => {
  test('[S20] of which one has logged in before the other comes back leave the login as it is', async () => {
    const { browser, first, second } = await twoTabsApart(keeping)
    await hop(browser, first)
    await submit(browser)
    await hop(browser, second)
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
  })
})
