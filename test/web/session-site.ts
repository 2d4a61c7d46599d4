import { once } from 'node:events'
import http, { type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Request, type RequestHandler, type Response } from 'express'
import type { Session } from 'express-session'
import { type Config, makeConfig } from '../../lib/config'
import { type SsoRecord, serialiseRecord } from '../../lib/decide/record'
import type { Kv } from '../../lib/storage/kv'
import { sessionKey } from '../../lib/storage/site-store'
import { SiteSessions } from '../../lib/web/session/site-sessions'
import { tapped } from '../storage/failing-kv'
import { siteOver } from '../storage/stores'
import { Browser } from '../support/agent'
import { required, sessionSecret } from '../support/configuration'

export const oldSecret = 'an-older-secret-0123456789-abcdef'
export const cookieName = 'sso2.sid'

/** A configuration of a site over http. */
export function configOf(options: object = {}): Config {
  const session = { idleSeconds: 1000, absoluteSeconds: 10_000 }
  const own = { siteUrl: 'http://site.localhost', sessionSecret: [sessionSecret, oldSecret], session }
  return makeConfig({ ...required, ...own, ...options }, {}, { now: Date.now })
}

/** The session, for handlers that put anything into it. */
export const bag = (req: Request) => req.session as unknown as Session & Record<string, unknown>
/** The site's data in a session. */
export const dataOf = (req: Request): object => {
  const { cookie: _cookie, ...data } = { ...bag(req) }
  return data
}

/** Session cookies that an answer sets. */
export const cookiesOf = ({ headers }: { readonly headers: IncomingHttpHeaders }): string[] =>
  (headers['set-cookie'] ?? []).filter((line) => line.startsWith(cookieName))

/** What a callback was told: the message of an error, or the value. */
export const told = (run: (done: (error?: unknown, value?: unknown) => void) => void) =>
  new Promise<unknown>((resolve) =>
    run((error, value) => resolve(error ? String((error as Error).message) : (value ?? null))),
  )

/** One site with nothing but sessions. */
export type SessionSite = Awaited<ReturnType<typeof startSite>>

/** Something that happens once, just before the next command of a name. */
export interface Meanwhile {
  next?: { readonly command: keyof Kv; readonly act: () => Promise<unknown> } | undefined
}

/** A store between whose commands something else may happen. */
export const interrupted = (kv: Kv, meanwhile: Meanwhile): Kv =>
  tapped(kv, (command) => {
    const { next } = meanwhile
    if (next?.command !== command) return undefined
    meanwhile.next = undefined
    return next.act()
  })

interface SiteParts {
  readonly kv: Kv
  readonly config?: Config
  readonly framework?: typeof express
  /** Mounted before `sso.session`. */
  readonly before?: RequestHandler[]
}

export async function startSite({ kv, config = configOf(), framework = express, before = [] }: SiteParts) {
  /** Commands that went to the store. */
  const commands: string[] = []
  /** Keys of the sessions with a record that a handler has destroyed. */
  const destroyed: string[] = []
  const clock = { now: Math.floor(Date.now() / 1000) }
  const counted = tapped(kv, (command) => void commands.push(command))
  const { records, sessionIndex, prefix } = siteOver(counted, clock)
  const sessions = new SiteSessions(config, records, sessionIndex, () => clock.now)
  const app = framework()
  for (const handler of before) app.use(handler)
  app.use(sessions.handler)
  const server = http.createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const site = {
    url: `http://site.localhost:${(server.address() as AddressInfo).port}`,
    sessions,
    records,
    server,
    prefix,
    commands,
    destroyed,
    app,
    clock,
    /** A page whose handler may be asynchronous. */
    page: (path: string, show: (req: Request, res: Response) => unknown) =>
      void app.get(path, (req, res, next) => {
        Promise.resolve(show(req, res)).catch(next)
      }),
    browser: () => new Browser({ now: () => clock.now * 1000 }),
    /** The session ID that a browser holds. */
    idOf: (browser: Browser) => decodeURIComponent(browser.cookie(cookieName) ?? '').slice(2, 45),
    /** The session cookie that a browser holds now, for a request of another browser. */
    cookieOf: (browser: Browser) => ({ cookie: `${cookieName}=${browser.cookie(cookieName)}` }),
    /** What is stored for the session of a request. */
    stateOf: async (req: Request) => {
      const { key, stored } = await sessions.stateOf(req)
      return { hasKey: key !== undefined, state: stored === 'unavailable' ? stored : stored.state }
    },
    close: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
  sessions.onRegenerate = moveRecord(site)
  sessions.onDestroy = async (key) => void destroyed.push(key)
  addPages(site)
  return site
}

/** Pages of each site. By its query a page also puts something into the session (`put`), or reads it first or last (`touch`, `show`). */
function addPages(site: SessionSite): void {
  const { app, page, sessions, records } = site
  const put = (req: Request) => {
    const { put: name } = req.query
    if (name) bag(req)[String(name)] = 'put'
  }
  app.get('/untouched', (_req, res) => void res.json({}))
  app.get('/read', (req, res) => void res.json(dataOf(req)))
  app.get('/put/:name/:value', (req, res) => {
    bag(req)[req.params.name] = req.params.value
    res.json(dataOf(req))
  })
  page('/state', async (req, res) => res.json(await site.stateOf(req)))
  page('/log-in', async (req, res) => {
    put(req)
    res.json({ id: await establish(site, req, 'loggedin', !req.query['drop']) })
  })
  page('/end', async (req, res) => {
    if (req.query['touch']) dataOf(req)
    const { key } = await sessions.stateOf(req)
    if (key !== undefined) await records.end(key)
    await sessions.replaceWithEmptySession(req)
    put(req)
    res.json(req.query['show'] ? dataOf(req) : {})
  })
  page('/adopt/:id', async (req, res) => {
    if (req.query['touch']) dataOf(req)
    await sessions.adopt(req, String(req.params['id']))
    if (req.query['clear']) delete bag(req)['a']
    put(req)
    res.json(req.query['show'] ? dataOf(req) : {})
  })
}

export function recordOf(site: SessionSite, status: 'anon' | 'loggedin'): SsoRecord {
  const { now } = site.clock
  const common = { v: 1, since: now, checkedAt: now, sidHash: 'hash', sealedSecrets: 'box' }
  return status === 'anon' ? { ...common, status } : { ...common, status, user: { accountId: 'account-ada' } }
}

/** What signs in: the old session is revoked first, and its data goes along. */
export async function establish(site: SessionSite, req: Request, status: 'anon' | 'loggedin', keepsData = true) {
  const { key, stored } = await site.sessions.stateOf(req)
  if (stored === 'unavailable') throw new Error('the store is away')
  const id = site.sessions.nextId(req, 'hash')
  const revoked = key === undefined ? { taken: null } : await site.records.writeMarker(key, stored.raw, 'moved', id)
  if (revoked === false || revoked === 'unavailable') throw new Error(`not revoked: ${revoked}`)
  const renewed = await site.sessions.renew(req, {
    id,
    ...revoked,
    keepsData,
    accountId: status === 'loggedin' ? 'ada' : undefined,
  })
  if (renewed === 'unavailable') return renewed
  await site.records.replace(sessionKey(renewed), null, serialiseRecord(recordOf(site, status)), 1000)
  return renewed
}

/** What a status check does: it writes the record, and renews the data's expiry in the same step. */
export async function check(site: SessionSite, req: Request): Promise<void> {
  const { key, stored } = await site.sessions.stateOf(req)
  const seconds = site.sessions.dataLifeOf(req)
  if (key === undefined || stored === 'unavailable' || stored.raw === null || seconds === undefined) return
  await site.records.replace(key, stored.raw, stored.raw, 1000, seconds)
}

const moveRecord = (site: SessionSite) => async (req: Request, newId: string) => {
  const { key = '', stored } = await site.sessions.stateOf(req)
  if (stored === 'unavailable' || stored.state !== 'live') throw new Error('nothing to move')
  if (!(await site.records.writeMarker(key, stored.raw, 'moved', newId))) return false
  return (await site.records.replace(sessionKey(newId), null, stored.raw, 1000)) === true
}
