import http from 'node:http'
import { Browser, type ScriptAnswer } from '../../test/support/agent'
import { document } from '../../test/support/landing'
import type { Server } from './machine'
import { countCommands, openSlowWay } from './redis-commands'
import { password, readerName, type Setup } from './setup'

/*
 * Flows in steps: all browsers take the first step, one after the other, then all take the second. What a step costs is what the
 * server used meanwhile, divided by the number of browsers. The hops between, at the platform, are not the site's. Commands and waits are
 * counted afterwards, by servers of the same kind, with a few browsers.
 */

/** Figures of one step: milliseconds of the site's CPU time, round by round; commands and waits of each browser. */
export interface StepFigures {
  readonly title: string
  readonly cpu: number[]
  readonly commands: number[]
  readonly waits: number[]
}

/** One browser on its way. */
interface Traveller {
  readonly browser: Browser
  readonly username: string
  /** Where the last redirect led. */
  next: string
}

interface Step {
  /** `undefined`: not the site's, and not measured. */
  readonly title?: string
  /** Done once, before the browsers take the step. */
  readonly before?: () => Promise<void>
  take(traveller: Traveller): Promise<void>
}

interface Flow {
  readonly kind: string
  readonly port: number
  steps(origin: string, server: Server): Step[]
}

type Figures = Map<string, StepFigures>

const CHECK_SECONDS = 361
const COUNTED_BROWSERS = 3
const PAGES = 5
const PASSPORT = 'passport:'
const SIX_PAGES = [`${PASSPORT} five pages`, `${PASSPORT} one more page`]
/** What a visit is made of, by the title of its row. */
const VISITS: Readonly<Record<string, readonly string[]>> = {
  'one whole visit': ['six-minute check', 'five pages'],
  'one whole visit, through Identify': ['return: to Identify', 'return: landing', 'five pages', 'six-minute check'],
  [`${PASSPORT} one whole visit`]: SIX_PAGES,
  [`${PASSPORT} one whole visit, with its login`]: ['passport-local: login', ...SIX_PAGES],
}

/** Accounts that so many rounds need: each login is a user's first one, as far as the limits know. */
export const accountsFor = (rounds: number, browsers: number): number => (rounds + 3) * browsers

export async function measureFlows(setup: Setup, rounds: number, browsers: number): Promise<StepFigures[]> {
  const flows: Flow[] = [
    { kind: 'sso2', port: setup.sitePort, steps: (origin, server) => siteSteps(setup, origin, server) },
    { kind: 'passport', port: 0, steps: passportSteps },
  ]
  const figures: Figures = new Map()
  const running = await startAll(setup, flows, {})
  for (let round = -1; round < rounds; round += 1)
    for (const { server, steps } of running)
      await timeSteps(server, steps, travellers((round + 1) * browsers, browsers), round < 0 ? new Map() : figures)
  await Promise.all(running.map(({ server }) => server.stop()))
  await countSteps(setup, flows, figures, (rounds + 1) * browsers)
  for (const [title, parts] of Object.entries(VISITS)) addVisit(figures, title, parts)
  return [...figures.values()]
}

function startAll(setup: Setup, flows: readonly Flow[], more: object) {
  return Promise.all(
    flows.map(async ({ kind, port, steps }) => {
      const server = await setup.start(kind, { port, hasLimits: true, ...more })
      await server.advance(Math.round((setup.emulator.clock.now() - Date.now()) / 1000)) // to the platform's time
      return { server, steps: steps(`http://localhost:${server.port}`, server) }
    }),
  )
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })

/** Each with an address, as a proxy in front of the site would tell it, and a user name of its own. */
function travellers(from: number, count: number): Traveller[] {
  return Array.from({ length: count }, (_, index) => {
    const number = from + index
    const address = `198.51.${Math.floor(number / 250) % 250}.${1 + (number % 250)}`
    const browser = new Browser({ agent, headers: { 'x-forwarded-for': address } })
    return { browser, username: readerName(number), next: '' }
  })
}

const figuresOf = (figures: Figures, title: string): StepFigures => {
  const found = figures.get(title) ?? { title, cpu: [], commands: [], waits: [] }
  figures.set(title, found)
  return found
}

async function timeSteps(server: Server, steps: readonly Step[], all: readonly Traveller[], figures: Figures) {
  for (const { title, before, take } of steps) {
    await before?.()
    const used = await server.usage()
    for (const traveller of all) await take(traveller)
    const cpu = (await server.usage()).cpu - used.cpu
    if (title !== undefined) figuresOf(figures, title).cpu.push(cpu / 1000 / all.length)
  }
}

/** First all commands, then all waits: a MONITOR would take its time too. */
async function countSteps(setup: Setup, flows: readonly Flow[], figures: Figures, from: number): Promise<void> {
  const way = await openSlowWay(setup.redisServer.port)
  const running = await startAll(setup, flows, { redisUrl: way.url })
  const counter = await countCommands(setup.redisServer.port)
  const some = (index: number) => travellers(from + index * COUNTED_BROWSERS, COUNTED_BROWSERS)
  for (const { steps } of running) await count(steps, some(0), figures, 'commands', counter.during)
  counter.stop()
  for (const { steps } of running) await count(steps, some(1), figures, 'waits', way.during)
  await Promise.all(running.map(({ server }) => server.stop()))
  await way.close()
}

async function count(
  steps: readonly Step[],
  all: readonly Traveller[],
  figures: Figures,
  what: 'commands' | 'waits',
  during: (run: () => Promise<void>) => Promise<number>,
): Promise<void> {
  for (const { title, before, take } of steps) {
    await before?.()
    for (const traveller of all) {
      if (title === undefined) await take(traveller)
      else figuresOf(figures, title)[what].push(await during(() => take(traveller)))
    }
  }
}

/** The sum of its steps, round by round and browser by browser. */
function addVisit(figures: Figures, title: string, parts: readonly string[]): void {
  const found = parts.map((part) => figures.get(part))
  if (!found.every((one) => one !== undefined)) return
  const sum = (what: 'cpu' | 'commands' | 'waits') =>
    (found[0]?.[what] ?? []).map((_first, index) => found.reduce((total, one) => total + (one[what][index] ?? 0), 0))
  figures.set(title, { title, cpu: sum('cpu'), commands: sum('commands'), waits: sum('waits') })
}

/** Goes where the browser was sent. */
const goOn = async (traveller: Traveller) => go(traveller, traveller.next, [302, 303])

/** One request for a page, which must be answered by one of these. */
async function go(traveller: Traveller, address: string, expected: readonly number[]): Promise<void> {
  take(traveller, address, expected, await traveller.browser.fetchJson(address, { headers: document }))
}
/** Sends a form, and does not follow the redirect. */
async function post(traveller: Traveller, address: string, form: Record<string, string>): Promise<void> {
  take(traveller, address, [303], await traveller.browser.fetchJson(address, { form, headers: document }))
}
function take(traveller: Traveller, address: string, expected: readonly number[], answer: ScriptAnswer): void {
  const { status, headers } = answer
  if (!expected.includes(status)) throw new Error(`a step at ${new URL(address).pathname} was answered by ${status}`)
  traveller.next = new URL(headers.location ?? '', address).href
}
const pages = (origin: string) => async (one: Traveller) => {
  for (let page = 0; page < PAGES; page += 1) await go(one, `${origin}/page`, [200])
}

function siteSteps({ emulator }: Setup, origin: string, server: Server): Step[] {
  const page = `${origin}/page`
  const later = async () => {
    emulator.clock.advance(CHECK_SECONDS)
    await server.advance(CHECK_SECONDS)
  }
  const logIn = (one: Traveller) =>
    post(one, `${origin}/login`, { username: one.username, password, return_to: '/page' })
  const end = (path: string) => (one: Traveller) => post(one, `${origin}${path}`, { return_to: '/page' })
  return [
    { title: 'first visit: to Identify', take: (one) => go(one, page, [302, 303]) },
    { take: goOn },
    { title: 'first visit: landing', take: goOn },
    { title: 'the page itself', take: (one) => go(one, page, [200]) },
    { title: 'login form', take: (one) => go(one, `${origin}/login`, [200]) },
    { title: 'login, new device', take: logIn },
    { title: 'six-minute check', before: later, take: (one) => go(one, page, [200]) },
    { title: 'logout', take: end('/logout') },
    { take: async ({ browser }) => void (await browser.visit(`${origin}/login`)) },
    { title: 'login, known device', take: logIn },
    { take: async ({ browser }) => browser.dropCookies(({ name }) => name === 'sso2.sid') },
    { title: 'return: to Identify', take: (one) => go(one, page, [302, 303]) },
    { take: goOn },
    { title: 'return: landing', take: goOn },
    { title: 'five pages', take: pages(origin) },
    { title: 'logout of all, two sessions', take: end('/logout-all') },
  ]
}

function passportSteps(origin: string): Step[] {
  const logIn = (one: Traveller) => post(one, `${origin}/log-in`, { username: one.username, password })
  return [
    { title: 'passport-local: login', take: logIn },
    { title: `${PASSPORT} five pages`, take: pages(origin) },
    { title: `${PASSPORT} one more page`, take: (one) => go(one, `${origin}/page`, [200]) },
    { title: `${PASSPORT} logout`, take: (one) => post(one, `${origin}/log-out`, {}) },
  ]
}
