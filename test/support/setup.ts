import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { Redis } from 'ioredis'
import { type Health, type Sso2, type Sso2Options, sso2 } from '../../lib'
import { createEmulator, demoOptions, type Emulator, type EmulatorOptions } from '../../lib/emulator'
import { Browser, type BrowserOptions, type ScriptAnswer, type VisitedPage } from './agent'
import { browserCalls } from './calls'
import type { TestRedis } from './redis'
import { type Held, hold } from './turnstile'
import { eventually, pause } from './wait'

export { eventually } from './wait'

/*
 * Express loads this with the first form that it reads. Jest refuses to load a module between two tests. Where tests run at once, a busy
 * machine may read the first form just then, and after that Express reads no form of the suite.
 */
require('iconv-lite').encodingExists('utf-8')

declare module 'express-session' {
  interface SessionData {
    saved?: string
  }
}

/** Accounts of the demo data. Edsger's is not active. */
export const ada = { username: 'ada', password: 'correct-horse' }
export const grace = { username: 'grace', password: 'battery-staple' }
export const edsger = { username: 'edsger', password: 'paper-lantern' }

export const sessionSecret = 'a-session-secret-of-more-than-32-bytes'
export const redisUrl = () => present(process.env['TEST_REDIS_URL'])

/** What every page of a test site answers. */
export interface PageView {
  status: 'loggedin' | 'anon' | 'none'
  degraded?: string
  username?: string
  saved?: string
  url: string
}

/** Holds slow requests until they are let go. */
export class Gates {
  private readonly gates = new Map<string, () => Promise<void>>()

  /** A gate that one request will wait at. */
  add(): Held & { name: string } {
    const name = randomUUID()
    const { held, pass } = hold()
    this.gates.set(name, pass)
    return { name, ...held }
  }

  /** What a slow request does. */
  async wait(name: string): Promise<void> {
    const pass = this.gates.get(name)
    if (!pass) throw new Error('there is no such gate')
    await pass()
    this.gates.delete(name)
  }
}

/** Builds a site. A page of a test waits at a gate, until the test opens the gate. */
export type Build = (sso: Sso2, gates: Gates) => http.RequestListener

export interface TestSite {
  readonly url: string
  readonly sso: Sso2
  readonly prefix: string
  readonly gates: Gates
}

export interface SetupOptions {
  site?: Partial<Sso2Options> | ((name: string) => Partial<Sso2Options>)
  emulator?: EmulatorOptions
  /** The host of both sites. Default: each has its own. */
  host?: string
  /** Builds the application; default: `app.use(sso)` and the pages. */
  build?: Build
}

export type Setup = Awaited<ReturnType<typeof startSetup>>

/** One emulator, two sites of one organisation over one real Redis, and their browsers. */
export async function startSetup(options: SetupOptions = {}) {
  const [morning, evening] = [await openPort('morning', options.host), await openPort('evening', options.host)]
  const clients = [morning, evening].map(({ name, url }) => ({
    clientId: name,
    clientSecret: `client-secret-of-the-${name}-paper-0123456789`,
    name,
    landingPage: `${url}/sso2/landing`,
  }))
  const emulator = await startEmulator(clients, options.emulator)
  const redis = new Redis(redisUrl(), { lazyConnect: true }) // closed before it has connected, it would keep Jest from its end
  const sites = [morning, evening].map((port) => startSite(port, emulator, options))
  const [first, second]: [TestSite, TestSite] = [present(sites[0]), present(sites[1])]
  return {
    emulator,
    morning: first,
    evening: second,
    redis,
    browser: (browser: BrowserOptions = {}) => new Browser({ now: () => emulator.clock.now(), ...browser }),
    keys: async (site = first) => (await redis.keys(`${site.prefix}*`)).sort(),
    /** How often an operation was called for browsers, without the calls by which the package probes the SSO system. */
    countCalls: (operation: string) => browserCalls(emulator, operation).length,
    close: async () => {
      await Promise.all(sites.map((site) => site.close()))
      await emulator.close()
      redis.disconnect()
    },
  }
}

/** A setup for the tests of a file, or of a `describe`. It is closed after the last one. */
export function useSetup(options: SetupOptions = {}): Setup {
  const setup = {} as Setup
  beforeAll(async () => void Object.assign(setup, await startSetup(options)))
  afterAll(() => setup.close())
  return setup
}

export type Port = Awaited<ReturnType<typeof openPort>>

/** The address comes first: the platform must know it before the site can be made. */
export async function openPort(name: string, host = `${name}.localhost`) {
  const server = http.createServer({ keepAliveTimeout: 60_000 }) // or a busy test sends into a connection just closed
  server.listen(0, '127.0.0.1').unref() // or a wrong option of the emulator would leave Jest running
  await once(server, 'listening')
  return { name, server, url: `http://${host}:${(server.address() as AddressInfo).port}` }
}

/** A platform whose accounts may have any number of sessions. */
export async function startEmulator(clients: EmulatorOptions['clients'], own: EmulatorOptions = {}): Promise<Emulator> {
  const limits = { sessionsPerAccount: 100_000, ...own.limits }
  const emulator = createEmulator(demoOptions({ clients, ...own, limits }))
  await emulator.listen(0)
  return emulator
}

function startSite(port: Port, emulator: Emulator, options: SetupOptions) {
  const { name, url } = port
  const prefix = `flow-${randomUUID()}:`
  const own = typeof options.site === 'function' ? options.site(name) : options.site
  const site = { ...usualOptions(emulator, name, { url, prefix }), ...own }
  return { ...serve(port, site, options.build ?? pages), prefix }
}

/** One process of a site. */
export function serve({ server, url }: Port, options: Partial<Sso2Options>, build: Build) {
  const sso = sso2(options)
  const gates = new Gates()
  server.on('request', build(sso, gates))
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await sso.close()
  }
  return { url, sso, gates, server, close }
}

/** What every process of a site has in common. */
export const usualOptions = (
  emulator: Emulator,
  name: string,
  site: Pick<TestSite, 'url' | 'prefix'>,
): Sso2Options => ({
  ...emulator.siteOptions(name),
  siteUrl: site.url,
  sessionSecret,
  redis: redisUrl(),
  session: { prefix: site.prefix },
  clock: emulator.clock,
  loginLimit: false,
})

/** A site of nothing but the usual pages. */
export const pages = (sso: Sso2, gates: Gates): Express => addPages(express().use(sso), sso, gates)

/** A site behind one proxy that tells the address of its caller. */
export const behindProxy = (sso: Sso2, gates: Gates): Express =>
  addPages(express().set('trust proxy', 1).use(sso), sso, gates)

export function addPages(app: Express, sso: Sso2, gates: Gates): Express {
  app.get('/account', sso.requireLogin(), (req, res) => void res.json(viewOf(req)))
  app.get('/sensitive', sso.requireLogin({ fresh: true }), (req, res) => void res.json(viewOf(req)))
  app.all('/save', (req: Request, res: Response, next: NextFunction) => {
    const query = new URLSearchParams(req.originalUrl.split('?')[1])
    const save = async () => {
      await gates.wait(query.get('gate') ?? '')
      req.session.saved = query.get('value') ?? 'yes'
      res.json(viewOf(req))
    }
    save().catch(next)
  })
  app.get('/wait', async (req, res) => {
    await gates.wait(String(req.query['gate']))
    res.json(viewOf(req))
  })
  app.get('/identify-me', (req, res) => void res.json({ identify: req.sso2.identifyUrl('/') }))
  app.get('/keep', (req, res) => {
    req.session.saved = 'kept'
    res.json(viewOf(req))
  })
  app.use((req, res) => void res.json(viewOf(req)))
  return app
}

export function viewOf(req: Request): PageView {
  const { status, degraded, user } = req.sso2
  const username = user && 'username' in user ? String(user.username) : undefined
  const { saved } = req.session ?? {} // express-session makes no session for the target `*`
  return {
    status,
    url: req.originalUrl,
    ...(degraded === undefined ? {} : { degraded }),
    ...(username === undefined ? {} : { username }),
    ...(saved === undefined ? {} : { saved }),
  }
}

/** The page's own answer. */
export function view({ body }: Pick<VisitedPage | ScriptAnswer, 'body'>): PageView {
  return JSON.parse(body) as PageView
}

/** Sends the login form as a person does: opens it, again where a busy machine says "not now", fills it in, and lands where the form leads. */
export async function logIn(
  browser: Browser,
  site: Pick<TestSite, 'url'>,
  account: { username: string; password: string },
  returnTo = '/',
): Promise<VisitedPage> {
  const open = () => browser.visit(`${site.url}/login?return_to=${encodeURIComponent(returnTo)}`)
  let form = await open()
  for (let tries = 1; form.status === 503 && tries < 10; tries += 1) {
    await pause(100)
    form = await open()
  }
  if (form.status !== 200) throw new Error(`no login form: ${form.status} at ${form.url}`)
  return browser.submit(`${site.url}/login`, { ...account, return_to: returnTo })
}

/** Logs in, for tests that need somebody who is: what a busy machine refuses is sent again. @returns the page it ends on */
export async function logInAtLast(browser: Browser, site: Pick<TestSite, 'url'>, account = ada): Promise<VisitedPage> {
  let page: VisitedPage | undefined
  await eventually(async () => {
    page = await logIn(browser, site, account).catch(() => undefined) // there was no form
    return page?.status === 200 && view(page).username === account.username
  })
  return present(page)
}

/** What a browser needs of a setup. */
interface Visited {
  readonly morning: Pick<TestSite, 'url'>
  browser(): Browser
}

/** A browser that is logged in: a busy machine may refuse that at first, or say so only on the next page. */
export async function loggedInBrowser(setup: Visited, account = ada, site = setup.morning): Promise<Browser> {
  const browser = setup.browser()
  const isIn = ({ body }: VisitedPage) => body.includes('"status":"loggedin"')
  await eventually(async () => {
    const page = await logIn(browser, site, account).catch(() => undefined) // there was no form
    return (page !== undefined && isIn(page)) || isIn(await browser.visit(`${site.url}/`))
  })
  return browser
}

/** A browser with an anonymous session; where a busy machine kept Redis back it is another browser's turn. */
export async function visitor(setup: Visited, site = setup.morning): Promise<Browser> {
  let browser = setup.browser()
  await eventually(async () => {
    browser = setup.browser()
    const page = await browser.visit(`${site.url}/`)
    return page.status === 200 && view(page).status === 'anon' && view(page).degraded === undefined
  })
  return browser
}

/** The session ID in a browser's cookie, or '' without a cookie. */
export const sessionIdOf = (browser: Browser) => decodeURIComponent(browser.cookie('sso2.sid') ?? '').slice(2, 45)

/** A Redis that hung answers again, and the site has noticed. */
export function resumeStore(redis: Pick<TestRedis, 'resume'>, sso: Sso2): Promise<void> {
  redis.resume()
  return eventually(async () => (await sso.health()).store === 'ok')
}

/** What `health()` reports, at a moment at which Redis answers: a busy machine may keep Redis back. */
export async function healthWithStore(sso: Sso2): Promise<Health> {
  let health: Health | undefined
  await eventually(async () => {
    health = await sso.health()
    return health.store === 'ok'
  })
  return present(health)
}

export function present<T>(value: T | undefined | null): T {
  if (value === undefined || value === null) throw new Error('something is missing')
  return value
}
