/** One Authenticate for all submits of one form at once, over all processes: who comes second takes the first one's result. Threat F5. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoginResult } from '../../decide/login'
import type { Visit } from '../visit'
import { dropSignedOut } from './signed-out'

const POLL_MS = 25
const WAIT_MS = 20_000
const BEAT_MS = 500
const BUSY: LoginResult = { ok: false, error: 'busy' }
const UNAVAILABLE: LoginResult = { ok: false, error: 'unavailable' }

/** What makes two submits the same. */
export function digestOf(credentials: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(credentials)).digest('base64url')
}

/** A flight as whoever has it knows it. */
export interface OwnFlight {
  /** Did the same submit go down with another process? Then nobody knows whether its Authenticate was sent. */
  readonly isSuccessor: boolean
  /** Asked right before what must not happen twice: false where somebody thought this process gone, and took over. */
  isOurs(): Promise<boolean>
}

/** A login, which never rejects. */
export type Run = (flight: OwnFlight) => Promise<LoginResult>

/** @param key of the session that the form was sent with */
export async function fly(visit: Visit, key: string, digest: string, run: Run): Promise<LoginResult> {
  const { logins } = visit.site
  const end = performance.now() + WAIT_MS
  let hasJoined = false
  let mayShare = false
  while (performance.now() < end) {
    const found = await logins.flight(key)
    if (found === 'unavailable') return UNAVAILABLE
    const { raw, flight, isHeld } = found
    const isRunning = raw !== null && flight?.result === undefined
    const isSame = isRunning && flight?.digest === digest
    if (isRunning && isHeld) {
      if (flight !== undefined && flight.digest !== digest) return BUSY
      hasJoined = flight !== undefined
      mayShare = true
      await sleep(POLL_MS)
      continue
    }
    const result = flight?.digest === digest ? flight.result : undefined
    // one that went well a moment ago has moved the session: there is nothing left to authenticate
    if (result && (mayShare || result.ok)) return share(visit, result, flight?.sessionId)
    const held = await logins.beginFlight(key, raw, digest)
    if (held === 'unavailable') return UNAVAILABLE
    if (held !== false) return takeOff(visit, key, { held, digest, isSuccessor: hasJoined || isSame }, run)
    mayShare = true
  }
  return BUSY
}

interface Started {
  readonly held: string
  readonly digest: string
  readonly isSuccessor: boolean
}

/** Says that it lives for as long as the login takes. */
async function takeOff(
  visit: Visit,
  key: string,
  { held, digest, isSuccessor }: Started,
  run: Run,
): Promise<LoginResult> {
  const { logins } = visit.site
  const beat = setInterval(() => logins.holdFlight(key, held), BEAT_MS).unref()
  const isOurs = async () => (await logins.holdFlight(key, held)) === true
  const result = await run({ isSuccessor, isOurs }).finally(() => clearInterval(beat))
  const sessionId = result.ok ? visit.req.sessionID : undefined
  const ended = await logins.endFlight(key, held, { digest, result, ...(sessionId ? { sessionId } : {}) })
  if (result.ok || ended !== false) return result // a login stands, whether the others hear of it or not
  return (await joinFinished(visit, key, digest)) ?? result // this process stood still, and another one took over
}

/** The session has moved by the login that the first submit made: this one has its result. @returns nothing where it is no such submit */
export async function joinFinished(visit: Visit, key: string, digest: string): Promise<LoginResult | undefined> {
  const found = await visit.site.logins.flight(key)
  const flight = found === 'unavailable' ? undefined : found.flight
  return flight?.digest === digest ? join(visit, key, digest) : undefined
}

async function join(visit: Visit, key: string, digest: string): Promise<LoginResult> {
  const end = performance.now() + WAIT_MS
  while (performance.now() < end) {
    const found = await visit.site.logins.flight(key)
    if (found === 'unavailable') return UNAVAILABLE
    if (found.flight?.digest !== digest) return BUSY
    if (found.flight.result) return share(visit, found.flight.result, found.flight.sessionId)
    if (!found.isHeld) return BUSY
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
