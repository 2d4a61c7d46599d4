/** The store of `req.session`, one for each request that touches its session. Writes pass through one rule: they never create. connect-redis lists the sessions. */
import { RedisStore } from 'connect-redis'
import type { Request } from 'express'
import type session from 'express-session'

type Callback = (error?: unknown, sess?: session.SessionData | null) => void

/** What the store asks of the session of its request. */
export interface StoreSession {
  /** Returns the session that was read with the request, when express-session begins. `undefined` later. */
  takeRead(id: string): session.SessionData | null | undefined
  /** Reads a session: this one again, or another. */
  load(id: string): Promise<session.SessionData | null>
  save(id: string, sess: session.SessionData): Promise<void>
  destroy(id: string): Promise<void>
  /** Gives the request another session ID. The login moves, the site's data do not. */
  regenerate(): Promise<void>
}

/** A store for express-session. There is no `touch`: the lifetime is renewed with the record. */
export class Sso2Store extends RedisStore {
  readonly #session: StoreSession

  /** @param client ioredis, or memory @param prefix of the keys of session data */
  constructor(client: unknown, prefix: string, own: StoreSession) {
    super({ client, prefix, disableTouch: true })
    this.#session = own
  }

  override async get(id: string, done: Callback = () => {}): Promise<void> {
    const read = this.#session.takeRead(id)
    if (read !== undefined) return done(null, read)
    await call(this.#session.load(id), done)
  }

  override async set(id: string, sess: session.SessionData, done: Callback = () => {}): Promise<void> {
    await call(this.#session.save(id, sess), done)
  }

  override async destroy(id: string, done: Callback = () => {}): Promise<void> {
    await call(this.#session.destroy(id), done)
  }

  /** Gives a request a new session object. express-session puts `generate` on its store, which its types leave out. */
  generateFor(req: Request): void {
    const { generate }: { generate?: (req: Request) => void } = Object(this)
    generate?.(req)
  }

  override regenerate = (_req: unknown, done: Callback = () => {}): void => {
    void call(this.#session.regenerate(), done)
  }
}

/** Tells the outcome to a callback, whose own errors are not caught here. */
const call = (outcome: Promise<void> | Promise<session.SessionData | null>, done: Callback): Promise<void> =>
  outcome.then(
    (found) => void setImmediate(done, null, found || null),
    (error: unknown) => void setImmediate(done, error),
  )
