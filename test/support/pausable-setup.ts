import express, { type Express, type RequestHandler } from 'express'
import session from 'express-session'
import { type AccessToken, type ExchangeContext, type Sso2, type Sso2Options, sso2 } from '../../lib'
import type { EmulatorOptions } from '../../lib/emulator'
import type { Browser, ScriptAnswer, VisitedPage } from './agent'
import { document } from './landing'
import { addPausablePages, type BasketView } from './pausable-pages'
import {
  ada,
  addPages,
  Gates,
  healthWithStore,
  loggedInBrowser,
  pages,
  present,
  type Setup,
  sessionSecret,
  startSetup,
  usualOptions,
} from './setup'
import { Barrier, holdingAgent, Turnstile } from './turnstile'

export { document }

export type Keeping = 'Redis' | 'memory' | 'a session of its own'
export const keepings: readonly Keeping[] = ['Redis', 'a session of its own']

export interface PausableOptions {
  keeping?: Keeping
  site?: Partial<Sso2Options>
  emulator?: EmulatorOptions
  /** The package's own exchange of tickets and naming of users, where a test holds no request. */
  usesDefaultHooks?: boolean
  /** Answers to Session Status can be held back. */
  holdsAnswers?: boolean
  /** Runs before everything of ours. */
  before?: RequestHandler
}

/** One process of the morning site. */
interface Process {
  readonly sso: Sso2
  readonly app: Express
}

/** A setup whose morning site can be held at any point, and whose processes take turns. */
export type PausableSetup = Awaited<ReturnType<typeof startPausableSetup>>

const inMemory = { redis: undefined } as object as Partial<Sso2Options>

export async function startPausableSetup(options: PausableOptions = {}) {
  /** Turnstiles for requests that load a user, for those that exchange a ticket, and, with `holdsAnswers`, for Session Status. */
  const turnstiles = { naming: new Turnstile(), exchanging: new Turnstile(), answers: new Turnstile() }
  /** Pages below `/together` wait for each other here. */
  const together = new Barrier()
  const gates = new Gates()
  const ownOptions = { secret: sessionSecret, resave: false, saveUninitialized: false }
  const ownSession = options.keeping === 'a session of its own' ? session(ownOptions) : undefined
  const processes: Process[] = []
  const makeProcess = (sso: Sso2): Process => {
    const app = express()
    if (options.before) app.use(options.before)
    if (ownSession) app.use(ownSession, sso.router, sso.middleware)
    else app.use(sso)
    const process = { sso, app: addPages(addPausablePages(app, sso, gates, together), sso, gates) }
    processes.push(process)
    return process
  }
  const held = options.holdsAnswers ? { agent: holdingAgent(turnstiles.answers), timeoutMs: 10_000 } : {}
  const hooks = () => (options.usesDefaultHooks ? {} : hooksOf(() => setup, turnstiles))
  const store = options.keeping === 'memory' ? inMemory : {}
  const siteOptions = () => ({ ...store, ...held, ...hooks(), ...options.site })
  let serving: readonly Process[] = []
  let turn = 0
  const setup: Setup = await startSetup({
    site: (name) => (name === 'morning' ? siteOptions() : {}),
    ...(options.emulator ? { emulator: options.emulator } : {}),
    build: (sso) => {
      if (processes.length > 0) return pages(sso, gates) // the evening site
      serving = [makeProcess(sso)]
      return express().use((req, res, next) => {
        turn += 1
        present(serving[turn % serving.length]).app(req, res, next)
      })
    },
  })
  /** One more process of the morning site, over the same store. Redis may not answer it yet. */
  const addProcess = (site: Partial<Sso2Options> = {}) =>
    makeProcess(sso2({ ...usualOptions(setup.emulator, 'morning', setup.morning), ...siteOptions(), ...site }))
  return {
    ...setup,
    ...turnstiles,
    editRecords: (change: (text: string) => string) => editRecords(setup, change),
    together,
    gates,
    at: (path: string) => `${setup.morning.url}${path}`,
    first: present(processes[0]),
    addProcess,
    addReadyProcess: async (site?: Partial<Sso2Options>) => {
      const process = addProcess(site)
      await healthWithStore(process.sso)
      return process
    },
    newest: () => present(processes.at(-1)),
    /** From here on these processes serve the morning site, in turn. */
    serveFrom: (...next: Process[]) => {
      serving = next
    },
    loggedInBrowser: (account = ada) => loggedInBrowser(setup, account),
    close: async () => {
      await Promise.all(processes.slice(1).map(({ sso }) => sso.close()))
      await setup.close()
    },
  }
}

type Hooks = Pick<Partial<Sso2Options>, 'loadUser' | 'exchangeTicket'>

/** The usual ways, behind turnstiles. @param setup is there once the first ticket is */
function hooksOf(setup: () => Setup, { naming, exchanging }: Record<'naming' | 'exchanging', Turnstile>): Hooks {
  return {
    loadUser: async ({ api }) => {
      await naming.pass()
      const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string; username: string } }
      return { accountId: item.account_id, username: item.username }
    },
    exchangeTicket: async (ticket, context) => {
      await exchanging.pass()
      return exchange(setup(), ticket, context)
    },
  }
}

/** Writes another text in the place of each record. */
const editRecords = async ({ redis, keys }: Setup, change: (text: string) => string) => {
  for (const key of (await keys()).filter((name) => name.includes(':sso2:'))) {
    const text = await redis.get(key)
    if (text?.startsWith('{')) await redis.set(key, change(text), 'KEEPTTL')
  }
}

/** Makes each record one that no secret of the site opens. */
export const breakSeals = (setup: Setup) =>
  editRecords(setup, (text) => JSON.stringify({ ...JSON.parse(text), sealed: 'c2VhbGVk' }))

/** The usual exchange, by hand. */
export async function exchange(
  { emulator }: Pick<Setup, 'emulator'>,
  ticket: string,
  { signal }: ExchangeContext,
  site = 'morning',
) {
  const { clientId, clientSecret, tokenUrl } = emulator.siteOptions(site)
  const form = { grant_type: 'authorization_code', code: ticket, client_id: clientId, client_secret: clientSecret }
  const body = new URLSearchParams(form)
  const answer = await fetch(tokenUrl, { method: 'POST', body, ...(signal ? { signal } : {}) })
  if (!answer.ok) throw new Error(`the ticket was refused: ${answer.status}`)
  return (await answer.json()) as Extract<AccessToken, { access_token: string }>
}

/** How often the browser was sent through Identify on its way. */
export const identifyRedirects = ({ trail }: Pick<VisitedPage, 'trail'>) =>
  trail.filter(({ url }) => new URL(url).pathname.endsWith('/sso/identify')).length

export const basket = ({ body }: Pick<VisitedPage | ScriptAnswer, 'body'>) => JSON.parse(body) as BasketView

/** The next address of the way. */
export const hop = async (browser: Browser, url: string) =>
  present((await browser.fetchJson(url, { headers: document })).headers.location)
