/** One login: limit, fresh record, one Authenticate, its outcome. Nothing keeps the password. Threats F3 to F9. */
import {
  decideLogin,
  decideLoginStart,
  decideLostLogin,
  decideSuccession,
  type LoginDecision,
  type LoginError,
  type LoginResult,
} from '../../decide/login'
import { isLoggedIn, isOfAnother } from '../../decide/record'
import { Sso2UnavailableError } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import type { LoginStart } from '../../storage/session-index'
import { publish } from '../events'
import { deviceOf } from '../http/request-facts'
import { deviceMarkOf, rememberDevice } from '../limits/known-device'
import { browserName, type Visit } from '../visit'
import { endRecord } from './check'
import { digestOf, fly, joinFinished, type OwnFlight } from './login-flight'
import { redeemTicket } from './redeem-ticket'
import { settle } from './settle'

/** What the user typed. */
export interface Credentials {
  /** As it was typed, 1 to 256 characters. */
  readonly username: string
  /** Or a one-time password; 1 to 1024 characters. */
  readonly password: string
}

const MAX_USERNAME = 256
const MAX_PASSWORD = 1024
/** Both together, in bytes of JSON, where a control character has six: a longer token than that makes is refused unread. */
const MAX_WRITTEN = 4096

const failed = (error: LoginError): LoginResult => ({ ok: false, error })

/** Is this what a form may send? */
function areCredentials(value: { username?: unknown; password?: unknown }): value is Credentials {
  const { username, password } = value
  const isText = (text: unknown, most: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= most && !text.includes('\u0000')
  if (!isText(username, MAX_USERNAME) || !isText(password, MAX_PASSWORD)) return false
  return Buffer.byteLength(JSON.stringify([username, password])) <= MAX_WRITTEN
}

/** Logs in. Two submits of one form at once share one Authenticate and its result. Never throws for a documented code. */
export async function logIn(
  visit: Visit,
  credentials: { username?: unknown; password?: unknown },
): Promise<LoginResult> {
  if (!areCredentials(credentials)) return failed('invalid_request')
  const { stored, site } = visit
  const { username, password } = credentials
  const { key } = stored
  const digest = digestOf([username, password])
  if (visit.isLate && key !== undefined) {
    const shared = await joinFinished(visit, key, digest)
    if (shared) return shared
  }
  await leaveToAnother(visit)
  const facts = { storeAvailable: stored.isAvailable, ssoAvailable: site.front.isAvailable }
  const error = decideLoginStart({ ...facts, hasRecord: stored.value !== undefined })
  if (error !== undefined || key === undefined) return failed(error ?? 'session_ended')
  return fly(visit, key, digest, (flight) => run(visit, key, { username, password }, flight))
}

/** An anonymous session that another browser has brought is no reader's to log in with: he gets one of his own. Threats L2, S1. */
export async function leaveToAnother(visit: Visit): Promise<void> {
  const { stored } = visit
  if (isOfAnother(stored.value, browserName(visit)) && (await stored.drop()) !== 'done') stored.forget()
}

async function run(visit: Visit, key: string, credentials: Credentials, flight: OwnFlight): Promise<LoginResult> {
  const started = performance.now()
  const sidHash = visit.stored.value?.sidHash
  const result = await attempt(visit, key, credentials, flight).catch((error: unknown): LoginResult => {
    const failure = { step: 'authenticate', error, isOwn: false } as const
    visit.site.config.log.failed('login', failure, [credentials.password, visit.stored.secrets?.sid])
    return failed('unavailable')
  })
  publish('login', {
    operation: 'authenticate',
    outcome: result.ok ? 'logged_in' : 'refused',
    durationMs: performance.now() - started,
    sidHash,
    reason: result.ok ? undefined : result.error,
  })
  return result
}

/** Under the limits, and with a fresh session: a check asks the platform nothing about the password. */
async function attempt(
  visit: Visit,
  session: string,
  credentials: Credentials,
  flight: OwnFlight,
): Promise<LoginResult> {
  const { username } = credentials
  const { isSuccessor } = flight
  const { ipa: address } = deviceOf(visit.req)
  const tried = { address, username, deviceMark: deviceMarkOf(visit, username), session, isSuccessor }
  const result = await visit.site.loginLimit.run(
    tried,
    (refusal) => ask(visit, credentials, flight, refusal),
    (reason) => publish('login', { operation: 'limit', outcome: 'limited', durationMs: 0, reason }),
  )
  if (result.ok) rememberDevice(visit, username)
  return result
}

/** A stale record is checked first. Interface: "POST {sso_url}/sessionstatus". */
async function ask(
  visit: Visit,
  credentials: Credentials,
  flight: OwnFlight,
  refusal: () => Promise<LoginResult | undefined>,
): Promise<LoginResult> {
  const { site, stored } = visit
  const wasIn = isLoggedIn(stored.value)
  await settle(visit, { identify: 'never' })
  const start = site.sessionIndex.startNow()
  const { secrets } = stored
  if (!secrets) return failed(stored.isAvailable ? 'session_ended' : 'unavailable')
  // another process may have sent this form's Authenticate and gone down with the answer
  const known = flight.isSuccessor ? decideSuccession(await lookUp(visit, secrets.sid, wasIn)) : undefined
  if (known) return carryOut(visit, known, start)
  if (!(await flight.isOurs())) return failed('busy')
  const refused = await refusal() // last: all before it may have taken long
  if (refused) return refused
  return carryOut(visit, await authenticate(visit, secrets.sid, credentials), start)
}

/** What became of an Authenticate. @returns nothing where nobody can tell: who was in before is in still, whatever the password was */
async function lookUp(visit: Visit, sid: string, wasIn: boolean): Promise<SessionToken | undefined> {
  if (wasIn) return undefined
  return visit.site.client.sessionStatus({ sid, lks: 'anon', ...deviceOf(visit.req) }).catch(() => undefined)
}

/** One Authenticate; an answer that was lost is resolved by Session Status, never by asking twice. */
async function authenticate(visit: Visit, sid: string, { username, password }: Credentials): Promise<LoginDecision> {
  const asked = { sid, usr: username, pwd: password, ...deviceOf(visit.req) }
  try {
    return decideLogin(await visit.site.client.authenticate(asked))
  } catch (error) {
    if (error instanceof Sso2UnavailableError && error.retryable) return { do: 'not_now' }
  }
  return decideLostLogin(await lookUp(visit, sid, isLoggedIn(visit.stored.value)))
}

async function carryOut(visit: Visit, decision: LoginDecision, start: LoginStart): Promise<LoginResult> {
  switch (decision.do) {
    case 'sign_in': {
      const redeemed = await redeemTicket(visit, decision.token, start)
      if (redeemed.did === 'signed_in') return { ok: true, user: redeemed.user }
      return failed(redeemed.did === 'lost_race' ? 'session_ended' : 'unavailable')
    }
    case 'show': {
      const { do: _shown, ...shown } = decision
      return { ok: false, ...shown }
    }
    case 'identify':
      // the SSO system has forgotten the session: ours ends too, so that the next page load brings another one
      await endRecord(visit, visit.stored.value?.sidHash ?? '')
      return failed('session_ended')
    case 'ask_status':
    case 'not_now':
      return failed('unavailable')
  }
}
