import { contexts, type Touch } from './scheduler'
import { leaving, SITE, WANTS_NEWS } from './site'
import type { Seen, Tab, World } from './world'

/* What an actor does: each action is what a tab of a browser does from its request to the page that it ends on. */

/** Does something in a tab; `item` tells two of a kind apart. */
export type Action = (world: World, tab: Tab, item: string) => Promise<void>

const MOST_HOPS = 24
const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: SITE, 'sec-fetch-site': 'same-origin' }
const DOCUMENT = { accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }
const SCRIPT = { accept: 'application/json', 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' }

/** Opens an address as a document and follows every redirect. */
export async function navigate(world: World, tab: Tab, address: string): Promise<Seen> {
  await leave(world, tab)
  return follow(world, tab, await world.send(tab, { method: 'GET', url: new URL(address, SITE), headers: DOCUMENT }))
}

async function follow(world: World, tab: Tab, first: Seen): Promise<Seen> {
  let seen = first
  let base = SITE
  for (let hops = 0; seen.location !== undefined && hops < MOST_HOPS; hops += 1) {
    if (tab.isHasty && seen.location === `${SITE}/`) return seen
    const url = new URL(seen.location, base)
    base = url.href
    seen = await world.send(tab, { method: 'GET', url, headers: DOCUMENT })
  }
  return seen
}

/** A request by a script of the site. */
export async function ask(world: World, tab: Tab, path: string): Promise<Seen> {
  await leave(world, tab, path === '/sensitive' ? [WANTS_NEWS] : [])
  const headers = { ...SCRIPT, 'sec-fetch-site': 'same-origin', 'x-browser': tab.browser }
  return world.send(tab, { method: 'GET', url: new URL(path, SITE), headers })
}

async function submit(world: World, tab: Tab, path: string, fields: Record<string, string>): Promise<Seen> {
  await leave(world, tab)
  const body = new URLSearchParams({ return_to: '/', ...fields }).toString()
  const as = fields['username'] && `account-${fields['username']}`
  const form = { method: 'POST', url: new URL(path, SITE), headers: { ...DOCUMENT, ...FORM }, body, as }
  return follow(world, tab, await world.send(tab, form))
}

/** The moment at which a request takes its cookies and leaves the browser. */
async function leave({ scheduler }: World, { browser }: Tab, more: readonly Touch[] = []): Promise<void> {
  const actor = contexts.getStore()?.actor
  await scheduler.gate(actor, { label: 'leaves', touches: [...leaving(browser), ...more], canFail: false })
}

const ada = { username: 'ada', password: 'correct-horse' }
const grace = { username: 'grace', password: 'battery-staple' }

/** Something that happens elsewhere, in one step. */
const elsewhere =
  (label: string, key: string, happen: (world: World) => Promise<void> | void): Action =>
  async (world) => {
    const actor = contexts.getStore()?.actor
    await world.scheduler.gate(actor, { label, touches: [{ key, isWrite: true }], canFail: false })
    await world.scheduler.underWay(async () => happen(world))
  }

/** Sessions here run out: data and living records go, and nothing else. */
async function expire({ setup: { redis }, site: { prefix } }: World): Promise<void> {
  const keys = await redis.keys(`${prefix}s*:{*`)
  const values = keys.length > 0 ? await redis.mget(...keys) : []
  const living = keys.filter((_key, index) => values[index]?.startsWith('{'))
  if (living.length > 0) await redis.del(...living)
}

/** Every SSO session that somebody is logged in on ends at the platform. */
function terminate({ setup: { emulator } }: World): void {
  for (const { sid, status } of emulator.sessions()) if (status === 'loggedin') emulator.terminate(sid)
}

/** All actions by the names that schedules use. */
export const actions = {
  page: async (world, tab) => void (await navigate(world, tab, '/')),
  script: async (world, tab) => void (await ask(world, tab, '/plain')),
  save: async (world, tab, item) => void (await ask(world, tab, `/put?item=${item}`)),
  fresh: async (world, tab) => void (await ask(world, tab, '/sensitive')),
  check: async (world, tab) => void (await ask(world, tab, '/check')),
  login: async (world, tab) => void (await submit(world, tab, '/login', ada)),
  loginGrace: async (world, tab) => void (await submit(world, tab, '/login', grace)),
  loginWrong: async (world, tab) => void (await submit(world, tab, '/login', { ...ada, password: 'wrong' })),
  logout: async (world, tab) => void (await submit(world, tab, '/logout', {})),
  logoutAll: async (world, tab) => void (await submit(world, tab, '/logout-all', {})),
  landing1: async (world, tab) => void (await navigate(world, tab, landingOf(world, 0))),
  landing2: async (world, tab) => void (await navigate(world, tab, landingOf(world, 1))),
  expiry: elsewhere('sessions run out', '*', expire),
  terminate: elsewhere('the platform ends it', 'sso', terminate),
  tick: elsewhere('a second passes', '*', ({ scheduler }) => {
    scheduler.now += 1000
  }),
} satisfies Record<string, Action>

export type ActionName = keyof typeof actions

function landingOf(world: World, index: number): string {
  const landing = world.landings[index]
  if (landing === undefined) throw new Error('no landing was prepared')
  return landing
}

const home: Tab = { browser: 'b1', process: 0, isHasty: true }
const other: Tab = { browser: 'b2', process: 0, isHasty: true }

/** Two tabs on their ways back from Identify: their landing addresses, not yet opened. @param leave is done before each of them goes there */
async function prepareLandings(world: World, leave = () => {}): Promise<void> {
  world.landings = []
  for (const tab of [1, 2]) {
    leave()
    const page = await world.send(home, { method: 'GET', url: new URL(`/?tab=${tab}`, SITE), headers: DOCUMENT })
    const identify = new URL(page.location ?? '', SITE)
    const sent = await world.send(home, { method: 'GET', url: identify, headers: DOCUMENT })
    world.landings.push(sent.location ?? '')
  }
}

/** The local session is lost; the SSO session and the binding live. */
function loseSession(world: World): void {
  world.jar('b1').drop(isSession)
}

/** As {@link prepareLandings}, for a browser that has a session: its tabs go to Identify without that cookie. */
async function prepareOtherLandings(world: World): Promise<void> {
  const kept = world.jar('b1').all().filter(isSession)
  loseSession(world)
  await prepareLandings(world)
  for (const { name, value } of kept) world.jar('b1').take(`${name}=${value}; Path=/; HttpOnly`, new URL(SITE))
}

const isSession = ({ name }: { name: string }) => name.endsWith('.sid')

/** Makes a state, one thing after the other. */
const inTurn =
  (...steps: readonly ((world: World) => unknown)[]) =>
  async (world: World): Promise<void> => {
    for (const step of steps) await step(world)
  }
const open = (tab: Tab) => (world: World) => navigate(world, tab, '/')
const logIn = (tab: Tab) => (world: World) => submit(world, tab, '/login', ada)
const put = (item: string) => (world: World) => ask(world, home, `/put?item=${item}`)
const growStale = ({ scheduler }: World) => {
  scheduler.now += 360_000
}
const forgetSessions = ({ setup: { emulator } }: World) => {
  for (const { sid } of emulator.sessions()) emulator.prune(sid)
}
const prepareApart = (world: World) => {
  const { hostname } = new URL(SITE)
  return prepareLandings(world, () => world.jar('b1').drop((cookie) => cookie.host !== hostname))
}
const logOutUnconfirmed = async (world: World) => {
  const { faults } = world.setup.emulator
  faults.add({ operation: 'logout', kind: 'down' })
  await submit(world, home, '/logout', {})
  faults.clear()
}

const basket = inTurn(open(home), put('book'))
const basketForgotten = inTurn(basket, forgetSessions, growStale)
const loggedIn = inTurn(basket, logIn(home))
const loggedInTwice = inTurn(loggedIn, open(other), logIn(other))

/** Where executions begin. */
export const states = {
  /** Nobody yet, but two tabs on their ways back from Identify. */
  stranger: inTurn(prepareLandings),
  /** Anonymous, with something in the basket. */
  basket,
  /** Nobody, with something in the basket all the same; two tabs come back from Identify. */
  basketAlone: inTurn(prepareLandings, put('alone')),
  /** As `basketAlone`, but both tabs went to Identify at once: it has made a session for each. */
  basketApart: inTurn(prepareApart, put('book')),
  /** Logged out, which the platform has not confirmed; then something was put into the basket. */
  basketPending: inTurn(loggedIn, logOutUnconfirmed, put('alone')),
  /** As `basket`, and two tabs that went to Identify before there was a session come back now. */
  basketLandings: inTurn(prepareLandings, basket),
  /** As `basket`, but the platform has forgotten the session, and the session is stale. */
  basketForgotten,
  /** As `basketForgotten`, and two tabs that went to Identify without their session cookie come back now. */
  basketForgottenLandings: inTurn(basketForgotten, prepareOtherLandings),
  loggedIn,
  /** Logged in, and two tabs that went to Identify without their session cookie come back now. */
  loggedInLandings: inTurn(loggedIn, prepareOtherLandings),
  /** As `loggedInLandings`, and the store has lost the session. */
  lostLandings: inTurn(loggedIn, prepareOtherLandings, expire),
  /** Logged in at the platform, not here; two tabs on their ways back. */
  known: inTurn(loggedIn, loseSession, prepareLandings),
  stale: inTurn(loggedIn, growStale),
  /** Logged in here, ended at the platform. */
  ended: inTurn(loggedIn, terminate),
  staleEnded: inTurn(loggedIn, terminate, growStale),
  /** The same account in two browsers. */
  two: loggedInTwice,
  twoStale: inTurn(loggedInTwice, growStale),
  /** Logged in with one browser, anonymous with the other. */
  oneOfTwo: inTurn(loggedIn, open(other)),
} satisfies Record<string, (world: World) => Promise<void>>

export type StateName = keyof typeof states
