import type { Browser } from '../support/agent'
import { readJwt } from '../support/oracle'
import { ada, logInAtLast, present, view } from '../support/setup'
import { basket, document, hop, type Keeping, keepings, type PausableSetup, startPausableSetup } from './pausable-setup'
import { loginsAtSso } from './signed-out'

/*
 * What the site keeps in `req.session` stays when a user logs in: all of it, once, whatever happens at the same time.
 */

let setup: PausableSetup

afterEach(() => setup.close())

const idOf = (browser: Browser) => browser.cookie('connect.sid') ?? browser.cookie('sso2.sid')
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
  const submits: [count: number, what: string, send: (browser: Browser) => Promise<{ status: number }>][] = [
    [2, 'forms', submit],
    [2, 'scripts', script],
    ...(keeping === 'memory' ? [] : [[2, 'scripts at two processes', script] satisfies (typeof submits)[number]]),
  ]
  test.each(submits)('[S20] %i submits of the login at once (%s) leave the basket as is', async (count, what, send) => {
    const browser = await visitorOf(keeping)
    if (what === 'scripts at two processes') setup.serveFrom(setup.first, await setup.addReadyProcess())
    setup.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 100, times: 1 })
    const answers = await Promise.all(Array.from({ length: count }, () => send(browser)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(setup.countCalls('authenticate')).toBe(1)
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
  })

  test('[S20] a visitor whom the SSO system forgets keeps the basket: on a script, on a page, and in the login after that', async () => {
    const browser = await visitorOf(keeping)
    for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
    setup.emulator.clock.advance(361)
    expect(basket(await browser.fetchJson(setup.at('/basket')))).toMatchObject({ basket: ['book'] })
    expect(await basketOf(browser)).toEqual({ status: 'anon', basket: ['book'] })
    await submit(browser)
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
  })

  test('[S20] a visitor whose SSO session Authenticate does not know keeps the basket', async () => {
    const browser = await visitorOf(keeping)
    for (const { sid } of setup.emulator.sessions()) setup.emulator.prune(sid)
    await submit(browser) // the session is not stale, so Authenticate is the first to say so
    expect(await basketOf(browser)).toMatchObject({ basket: ['book'] })
    await submit(browser)
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

  test('[S20] check() on an answer that has begun neither throws nor moves the session; the next page is logged in', async () => {
    const browser = await visitorOf(keeping)
    const gate = setup.gates.add()
    const stream = browser.fetchJson(setup.at(`/stream?gate=${gate.name}`))
    await gate.arrived
    await logInAtLast(browser, setup.evening)
    const id = idOf(browser)
    gate.open()
    const { status, body, headers } = await stream
    expect([status, headers['set-cookie']]).toEqual([200, undefined])
    expect(body).toMatch(/^data: hello\n\ndata: (anon|loggedin)\n\n$/)
    expect(idOf(browser)).toBe(id)
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
    expect(idOf(browser)).not.toBe(id)
  })
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

  test('[S20] of which the older one comes back last log in the newer one, whose cookie the browser has', async () => {
    const { browser, first, second } = await twoTabsApart(keeping)
    await hop(browser, second)
    await hop(browser, first)
    await submit(browser)
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
    expect(loginsAtSso(setup).map(({ sid }) => sid)).toEqual([sidOf(second)])
  })

  test('[S20] of which one has logged in before the other comes back with the cookie of before: the login keeps its cookie', async () => {
    const { browser, first, second } = await twoTabsApart(keeping)
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    await hop(browser, first)
    await script(browser)
    const landed = await setup.browser({ cookies: false }).fetchJson(second, { headers: { ...document, cookie } })
    expect(landed.status).toBe(303)
    expect(String(landed.headers['set-cookie'])).not.toContain('sso2.sid')
    expect(await basketOf(browser)).toEqual(loggedInWithBook)
  })
})

test('[S20] a user whose session Redis loses during a check is shown nothing of it, and nothing of it is kept', async () => {
  setup = await startPausableSetup({ holdsAnswers: true })
  const browser = await setup.loggedInBrowser()
  await put(browser, 'book')
  setup.emulator.clock.advance(361)
  const held = setup.answers.close()
  const page = put(browser, 'pen')
  await held.arrived
  await setup.redis.del(await setup.keys())
  held.open()
  expect(basket(await page)).toEqual({ status: 'none', basket: ['pen'] })
  expect(await basketOf(browser)).toEqual({ status: 'loggedin', username: 'ada', basket: [] })
})

test.each(['Redis', 'memory'] as const)(
  '[S20] (%s) a second submit of the login whose answer is the only one that arrives has the login and the basket',
  async (keeping) => {
    const browser = await visitorOf(keeping)
    const cookie = `sso2.sid=${present(idOf(browser))}`
    const held = setup.naming.close()
    const lost = script(browser)
    await held.arrived
    const clicked = setup.browser()
    const second = clicked.fetchJson(setup.at('/login'), { json: ada, headers: { cookie } })
    held.open()
    expect((await second).status).toBe(200)
    expect(basket(await clicked.fetchJson(setup.at('/basket')))).toEqual(loggedInWithBook)
    await lost
  },
)
