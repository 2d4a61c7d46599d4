import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import type express from 'express'
import type { ErrorRequestHandler, NextFunction, Request, RequestHandler, Response } from 'express'
import type { Session } from 'express-session'
import type { Difference } from './differences'

/** Whose sessions: plain express-session's, `sso.session` over memory or Redis, or all of `app.use(sso)`. */
export type StackName = 'plain' | 'memory' | 'redis' | 'full'
/** Who visits: a browser without any cookie, or one whose session lives and is empty, on our side a login. */
export type Visitor = 'stranger' | 'reader'
export type StoreState = 'there' | 'away' | 'refusing writes'

/** What the handlers of a scenario have at hand. */
export interface Tools {
  /** Something has happened that other requests of the scenario may wait for. */
  tell(event: string): void
  /** Waits until it has happened. */
  hear(event: string): Promise<void>
  setStore(state: StoreState): Promise<void>
}

export type Page = (req: Request, res: Response, tools: Tools, next: NextFunction) => unknown

/** Of what a scenario builds its site. */
export interface Kit {
  readonly express: typeof express
  /** What a site mounts: express-session, `sso.session`, or `sso`. */
  readonly mounted: RequestHandler
  /** The session alone. */
  readonly session: RequestHandler
  readonly tools: Tools
  /** Mounts the scenario's pages, and those that all have. */
  addPages(app: express.Express): express.Express
}

export type Upgrade = (req: IncomingMessage, socket: Duplex, kit: Kit) => unknown

/** One request. The cookies of the browser go along, unless `cookie` writes the header itself. */
export interface Ask {
  readonly ask: string
  readonly headers?: Record<string, string>
  readonly json?: unknown
  /** The `Cookie` header, made of the session's cookie as the browser holds it. */
  readonly cookie?: (name: string, value: string) => string
  /** Goes to the site's handler of upgrades. */
  readonly upgrade?: true
}
/** Requests in order; those of `together` are under way at once; `logIn` is a login on the site's form. */
export type Step =
  | string
  | Ask
  | { readonly together: readonly (string | Ask)[] }
  | { readonly store: StoreState }
  | 'logIn'

/** A cookie of the session, as an answer sets it. */
export interface SetSession {
  readonly life: string
  readonly attributes: string
}

/** What is compared of an answer. */
export interface Seen {
  readonly status: number
  readonly body: unknown
  readonly cookies: readonly SetSession[]
  /** Names of other cookies that it sets. */
  readonly others: readonly string[]
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Does it give a session's ID to shared caches? Only asked of ours. */
  readonly isExposed: boolean
}

/** What is different on purpose in one answer. */
export interface Deviation {
  readonly row: Difference
  /** Number of the answer, from 0. */
  readonly at: number
  readonly ours: Partial<Seen>
  readonly visitor?: Visitor
  readonly stacks?: readonly StackName[]
}

export interface Scenario {
  readonly name: string
  readonly pages?: Readonly<Record<string, Page>>
  /** Default: `mounted`, then the pages. */
  readonly build?: (kit: Kit) => RequestListener
  readonly upgrade?: Upgrade
  readonly steps: readonly Step[]
  /** Answer headers that are compared too. */
  readonly headers?: readonly string[]
  /** Compare also how long the cookie lives. */
  readonly lives?: true
  readonly differs?: readonly Deviation[]
  /** Default: both. */
  readonly visitors?: readonly Visitor[]
  /** Default: all of ours. */
  readonly stacks?: readonly Exclude<StackName, 'plain'>[]
  /** Runs on sites of its own, whose store can be taken away. */
  readonly hasOutage?: true
}

/** The session, for handlers that put anything into it. */
export type Bag = Session & Record<string, unknown>

export function bag(req: IncomingMessage): Bag {
  return (req as Request).session as unknown as Bag
}

export function dataOf(session: object | null | undefined): Record<string, unknown> {
  return Object.fromEntries(Object.entries(session ?? {}).filter(([name]) => name !== 'cookie'))
}

/** The usual cookie, as an answer sets it. */
export const usual: SetSession = { life: 'usual', attributes: 'HttpOnly; Path=/; SameSite=Lax' }

/** How a call with a callback ended. */
export function ending(run: (done: (error?: unknown) => void) => unknown): Promise<'done' | 'error' | 'threw'> {
  return new Promise((resolve) => {
    try {
      run((error) => resolve(error ? 'error' : 'done'))
    } catch {
      resolve('threw')
    }
  })
}

/** Answers an upgrade that is not to be one: the client reads it as any answer. */
export function answer(socket: Duplex, value: unknown): void {
  const body = JSON.stringify(value)
  socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

export const commonPages: Readonly<Record<string, Page>> = {
  '/read': (req, res) => res.json(dataOf(req.session)),
  '/write': (req, res) => {
    bag(req)['a'] = 1
    res.json({ wrote: true })
  },
  '/nothing': (_req, res) => res.json({}),
}

type More = Partial<Omit<Scenario, 'name' | 'pages'>>

/** The browser asks for `/page`, and for the pages that every scenario has. */
export const onPage = (name: string, steps: readonly Step[], page: Page, more: More = {}): Scenario => ({
  name,
  pages: { '/page': page },
  steps,
  ...more,
})

/** The browser asks for one page, and the next request reads the session. */
export const firstPage = (name: string, page: Page, more?: More): Scenario =>
  onPage(name, ['GET /page', 'GET /read'], page, more)

/** As {@link firstPage}, in a session that an earlier request has written into. */
export const laterPage = (name: string, page: Page, more?: More): Scenario =>
  onPage(name, ['GET /write', 'GET /page', 'GET /read'], page, more)

/** One page in a session that is empty, and again when a request has written into it. */
export const everyPage = (name: string, page: Page): Scenario =>
  onPage(name, ['GET /page', 'GET /write', 'GET /page'], page)

type Handlers = (kit: Kit) => readonly (RequestHandler | ErrorRequestHandler)[]

/** Builds a site with handlers of its own: before the session, after it, and behind the pages. */
export const around =
  ({ before, after, behindPages }: { before?: Handlers; after?: Handlers; behindPages?: Handlers }) =>
  (kit: Kit): RequestListener => {
    const app = kit.express()
    app.use([...(before?.(kit) ?? []), kit.mounted, ...(after?.(kit) ?? [])])
    kit.addPages(app)
    for (const handler of behindPages?.(kit) ?? []) app.use(handler)
    return app
  }
