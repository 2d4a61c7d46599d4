import type http from 'node:http'
import { RedisStore } from 'connect-redis'
import express, { type Express, type Request, type Response } from 'express'
import session from 'express-session'
import type { Redis } from 'ioredis'
import { type Sso2, sso2 } from '../../lib'
import type { Emulator } from '../../lib/emulator'
import { contexts, type Scheduler, type Touch } from './scheduler'

declare module 'express-session' {
  interface SessionData {
    basket?: string[]
  }
}

/** Where the site is; nobody listens there, requests are handed over in memory. */
export const SITE = 'http://paper.localhost:3999'

/** The header that tells the result of a logout. */
export const LOGOUT_RESULT = 'x-logout-result'

/** What a page of the site answers. */
export interface View {
  readonly status: 'loggedin' | 'anon' | 'none'
  readonly user?: string
  readonly degraded?: string
  readonly basket?: string[]
  /** Where the page has called `check()`: its answer, and when it was called. */
  readonly check?: { readonly status: string; readonly called: number }
}

/** A browser's cookies as something that steps read or write. */
export const cookies = (browser: string, isWrite: boolean): Touch => ({ key: `cookies of ${browser}`, isWrite })

/** What a request takes along when it leaves: its browser's cookies; a promise may ask what had happened before. */
export const leaving = (browser: string): Touch[] => [
  cookies(browser, false),
  { key: 'logouts of all', isWrite: false },
]

/** The moment at which somebody wants a word of the platform that is newer. */
export const WANTS_NEWS: Touch = { key: 'questions', isWrite: false }

/** The execution that this code runs for. */
function current(): Scheduler {
  const context = contexts.getStore()
  if (!context) throw new Error('a site of the orders is asked outside of an execution')
  return context.scheduler
}

/** What sites differ in. */
export interface SiteKind {
  /** Does the site keep an express-session of its own? */
  readonly isOwnSession: boolean
  /** Does the site count attempts at user names? */
  readonly hasLimits: boolean
}

/** One process of the site. */
/** The platform, and the way to it. */
interface Platform {
  readonly emulator: Emulator
  readonly agent: http.Agent
}

export function buildProcess(platform: Platform, redis: Redis, prefix: string, { isOwnSession, hasLimits }: SiteKind) {
  const { emulator, agent } = platform
  const store = isOwnSession ? new RedisStore({ client: redis, prefix: `${prefix}own:` }) : undefined
  const sso = sso2({
    ...emulator.siteOptions('paper'),
    agent,
    siteUrl: SITE,
    sessionSecret: 'a-session-secret-of-more-than-32-bytes',
    redis,
    session: { prefix },
    clock: { now: () => contexts.getStore()?.scheduler.now ?? Date.now() },
    ...(hasLimits ? {} : { loginLimit: false }),
    onLogout: (req, result) => void req.res?.setHeader(LOGOUT_RESULT, result),
  })
  return { app: addPages(express(), sso, store), sso }
}

/** The pages of the site. `/sensitive` and `/check` do some work of their own before. */
function addPages(app: Express, sso: Sso2, store: session.Store | undefined): Express {
  if (store) {
    app.use(session({ store, secret: 'a secret of the site itself', resave: false, saveUninitialized: false }))
    app.use(sso.router, sso.middleware)
  } else app.use(sso)
  const work = async (req: Request) => {
    const browser = String(req.headers['x-browser'])
    const actor = contexts.getStore()?.actor
    await current().gate(actor, { label: 'work', touches: [...leaving(browser), WANTS_NEWS], canFail: false })
  }
  app.get('/put', (req, res) => {
    req.session.basket = [...(req.session.basket ?? []), String(req.query['item'])]
    show(req, res)
  })
  app.get('/sensitive', (req, _res, next) => void work(req).then(() => next(), next))
  app.get('/sensitive', sso.requireLogin({ fresh: true }), (req, res) => show(req, res))
  app.get('/check', (req, res, next) => {
    const check = async () => {
      await work(req)
      const called = current().mark()
      const status = await req.sso2.check()
      show(req, res, { status, called })
    }
    check().catch(next)
  })
  app.get('/plain', (req, res) => show(req, res))
  app.get('/', (req, res) => show(req, res))
  app.use((error: Error, _req: Request, res: Response, _next: unknown) => {
    if (res.headersSent) res.destroy()
    else res.status(500).json({ error: error.message })
  })
  return app
}

function show(req: Request, res: Response, check?: View['check']): void {
  const { status, user, degraded } = req.sso2
  const { basket } = req.session
  res.json({ status, user: user?.accountId, degraded, basket, check })
}
