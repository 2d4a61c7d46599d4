/** One Authenticate for all submits of one form at once, over all processes: who comes second takes the first one's result. Threat F5. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoginResult } from '../../decide/login'
import type { Flight } from '../../storage/logins'
import type { Visit } from '../visit'
import { dropSignedOut } from './signed-out'

const POLL_MS = 25
const WAIT_MS = 20_000
const BUSY: LoginResult = { ok: false, error: 'busy' }
const UNAVAILABLE: LoginResult = { ok: false, error: 'unavailable' }

/** What makes two submits the same. */
export function digestOf(credentials: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(credentials)).digest('base64url')
}

/** @param key of the session that the form was sent with; @param run the login itself, which never rejects */
export async function fly(
  visit: Visit,
  key: string,
  digest: string,
  run: () => Promise<LoginResult>,
): Promise<LoginResult> {
  const { logins } = visit.site
  const before = await logins.flight(key)
  if (before === 'unavailable') return UNAVAILABLE
  if (isRunning(before.flight) || isDone(before.flight, digest)) return join(visit, key, digest)
  const isFirst = await logins.beginFlight(key, before.raw, digest)
  if (isFirst === 'unavailable') return UNAVAILABLE
  if (!isFirst) return join(visit, key, digest)
  const result = await run()
  const sessionId = result.ok ? visit.req.sessionID : undefined
  await logins.endFlight(key, { digest, result, ...(sessionId ? { sessionId } : {}) }) // the login stands without it
  return result
}

/** The session has moved by the login that the first submit made: this one has its result. @returns nothing where it is no such submit */
export async function joinFinished(visit: Visit, key: string, digest: string): Promise<LoginResult | undefined> {
  const found = await visit.site.logins.flight(key)
  const flight = found === 'unavailable' ? undefined : found.flight
  return flight?.digest === digest ? join(visit, key, digest) : undefined
}

/** The session has moved by it a moment ago: there is nothing left to authenticate. */
const isDone = (flight: Flight | undefined, digest: string) => flight?.digest === digest && flight.result?.ok === true

const isRunning = (flight: Flight | undefined) => flight !== undefined && flight.result === undefined

async function join(visit: Visit, key: string, digest: string): Promise<LoginResult> {
  const end = performance.now() + WAIT_MS
  while (performance.now() < end) {
    const found = await visit.site.logins.flight(key)
    if (found === 'unavailable') return UNAVAILABLE
    if (found.flight?.digest !== digest) return BUSY
    if (found.flight.result) return share(visit, found.flight.result, found.flight.sessionId)
    await sleep(POLL_MS)
  }
  return BUSY
}

/** The second submit takes the first one's result, and its new session. */
async function share(visit: Visit, result: LoginResult, sessionId: string | undefined): Promise<LoginResult> {
  const { site, req, stored } = visit
  if (!result.ok || sessionId === undefined) return result
  if ((await stored.turnTo(sessionId)) === 'unavailable') return UNAVAILABLE
  if (!stored.value) return { ok: false, error: 'session_ended' } // logged out meanwhile
  await site.sessions.adopt(req, sessionId)
  dropSignedOut(visit)
  return result
}
