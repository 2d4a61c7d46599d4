/** Sends one Authenticate for all simultaneous submits of a form, across processes. Every other submit gets the result of the first. Threat F5. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoginResult } from '../../decide/login'
import { LEASE_SECONDS, type LoginForm, type LoginLocks } from '../../storage/login-locks'
import type { Unavailable } from '../../storage/site-store'
import type { RequestContext } from '../request-context'
import { dropLogoutCookie } from '../request-context'

const POLL_MS = 25
const MAX_POLL_MS = 500
const WAIT_MS = 20_000
const RENEW_MS = 500
/** A double click lets the browser drop the first response, with the cookie of the new session. The second form arrives within this time. */
const DROPPED_MS = 1000
const BUSY: LoginResult = { ok: false, error: 'busy' }
const UNAVAILABLE: LoginResult = { ok: false, error: 'unavailable' }

/** A submit of a form. */
export interface Submit {
  readonly key: string
  /** Digest of the credentials: simultaneous submits with equal digests are the same form. */
  readonly digest: string
  readonly arrivedAt: number
}

/** Returns the digest of the credentials. */
export function digestOf(credentials: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(credentials)).digest('base64url')
}

/** The lock of a login, as seen by the submit that has the lock. */
export interface LoginLock {
  /** Did the process of the same form die? Then Session Status reports whether its Authenticate succeeded. */
  readonly isSuccessor: boolean
  /** Is the lock still valid? Call this right before Authenticate, because a stopped process may have lost the lock. */
  isHeld(): Promise<boolean>
}

/** A login, which never rejects. */
export type Run = (lock: LoginLock) => Promise<LoginResult>

/** Runs a login, or waits for the result of the same form. */
export async function runExclusive(context: RequestContext, submit: Submit, run: Run): Promise<LoginResult> {
  const { loginLocks: logins } = context.site
  const { key, digest } = submit
  const end = performance.now() + WAIT_MS
  let before: string | null = null
  let [hasJoined, isSuccessor] = [false, false]
  let pollMs = POLL_MS
  while (performance.now() < end) {
    const begun = performance.now()
    const found = await logins.beginForm(key, before, digest)
    if (found === 'unavailable') return UNAVAILABLE
    if ('held' in found)
      return start(context, submit, new HeldLock(context, key, found.held, begun, isSuccessor || hasJoined), run)
    const { raw, form, isAlive } = found
    const isSame = form?.digest === digest
    before = null
    if (form?.result !== undefined) {
      if (isSame && (hasJoined || isSimultaneous(submit, form))) return share(context, form.result, form.sessionId)
      before = raw
      hasJoined = false
    } else if (raw !== null && isAlive) {
      if (form !== undefined && !isSame) return BUSY
      hasJoined = isSame
      pollMs = await pause(logins, key, pollMs)
    } else {
      before = raw // the process has died
      isSuccessor = isSame
    }
  }
  return BUSY
}

/**
 * Did the submit arrive before the other form had its result? A later submit is a new login.
 * @param spareMs allowed for a response that did not arrive
 */
const isSimultaneous = ({ arrivedAt }: Submit, { endedAt = 0 }: LoginForm, spareMs = 0) =>
  arrivedAt <= endedAt + spareMs

/**
 * The lock of one login. A timer renews the lock during a long login. If the process dies, the renewals stop, so that the next submit
 * notices within two seconds.
 */
class HeldLock implements LoginLock {
  readonly isSuccessor: boolean
  readonly held: string
  readonly #timer: NodeJS.Timeout
  readonly #renewForm: () => Promise<boolean | Unavailable>
  #heldSince: number

  constructor(
    { site: { loginLocks: logins } }: RequestContext,
    key: string,
    held: string,
    since: number,
    isSuccessor: boolean,
  ) {
    this.held = held
    this.isSuccessor = isSuccessor
    this.#heldSince = since
    this.#renewForm = () => logins.renewForm(key, held)
    this.#timer = setInterval(() => this.#renew(), RENEW_MS).unref()
  }
  async #renew(): Promise<void> {
    const now = performance.now()
    if ((await this.#renewForm()) === true) this.#heldSince = now
  }
  /** After a late renewal, Redis knows whether another submit has taken over. */
  async isHeld(): Promise<boolean> {
    if (!this.#isFresh()) await this.#renew()
    return this.#isFresh()
  }
  #isFresh(): boolean {
    return performance.now() - this.#heldSince < LEASE_SECONDS * 1000
  }
  stopRenewing(): void {
    clearInterval(this.#timer)
  }
}

function start(context: RequestContext, submit: Submit, lock: HeldLock, run: Run): Promise<LoginResult> {
  const { running } = context.site.loginLocks
  const login = runHeld(context, submit, lock, run).finally(() => {
    if (running.get(submit.key) === login) running.delete(submit.key)
  })
  running.set(submit.key, login)
  return login
}

async function runHeld(context: RequestContext, submit: Submit, lock: HeldLock, run: Run): Promise<LoginResult> {
  const { site, req } = context
  const { key, digest } = submit
  const result = await run(lock).finally(() => lock.stopRenewing())
  const sessionId = result.ok ? site.sessions.idOf(req) : undefined
  const form = { digest, result, endedAt: site.config.clock.now(), ...(sessionId ? { sessionId } : {}) }
  const ended = await site.loginLocks.endForm(key, lock.held, form)
  if (result.ok || ended !== false) return result // a login is valid even if the other submits do not get its result
  return (await joinFinished(context, submit)) ?? result // another process took over, because this process was stopped
}

/** Waits for the result of the same form, if the first submit has already moved the session. @returns `undefined` if there is no such form */
export async function joinFinished(context: RequestContext, submit: Submit): Promise<LoginResult | undefined> {
  const { loginLocks: logins } = context.site
  const end = performance.now() + WAIT_MS
  let pollMs = POLL_MS
  for (let hasJoined = false; performance.now() < end; hasJoined = true) {
    const found = await logins.findForm(submit.key)
    if (found === 'unavailable') return hasJoined ? UNAVAILABLE : undefined
    const { form, isAlive } = found
    if (form?.digest !== submit.digest) return hasJoined ? BUSY : undefined
    if (form.result) {
      const isShared = hasJoined || isSimultaneous(submit, form, DROPPED_MS)
      return isShared ? share(context, form.result, form.sessionId) : undefined
    }
    if (!isAlive) return BUSY
    pollMs = await pause(logins, submit.key, pollMs)
  }
  return BUSY
}

/** Waits for the form of this process in memory, for the form of another one with growing pauses. @returns the next pause, in milliseconds */
async function pause(logins: LoginLocks, key: string, ms: number): Promise<number> {
  const running = logins.running.get(key)
  await (running ? Promise.race([running, sleep(MAX_POLL_MS)]) : sleep(ms))
  return Math.min(ms * 2, MAX_POLL_MS)
}

/** Gives the second submit the result and session of the first. */
async function share(
  context: RequestContext,
  result: LoginResult,
  sessionId: string | undefined,
): Promise<LoginResult> {
  const { site, req, stored } = context
  if (!result.ok || sessionId === undefined) return result
  if ((await stored.switchTo(sessionId)) === 'unavailable') return UNAVAILABLE
  if (!stored.value) return { ok: false, error: 'session_ended' } // logged out in the meantime
  await site.sessions.adopt(req, sessionId)
  dropLogoutCookie(context)
  return result
}
