/** Logs a user in: limits, a status check if the record is stale, one Authenticate, its outcome. The password is not stored. Threats F3 to F9. */
import {
  type AttemptResult,
  attemptResultOf,
  decideAbandonedLogin,
  decideLogin,
  decideLoginStart,
  decideLostLogin,
  type LoginDecision,
  type LoginError,
  type LoginResult,
  lostAttemptResult,
  withinLimits,
} from '../../decide/login'
import { couldBeLoggedIn, isBegunByOtherBrowser } from '../../decide/record'
import { afterUnknownLogin } from '../../decide/status-check'
import { Sso2UnavailableError } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import type { LoginStart } from '../../storage/session-index'
import { shortHash } from '../../storage/site-store'
import { publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import type { Admission, Refusal } from '../limits'
import { browserName, dropLogoutCookie, isLandingUnstored, type RequestContext } from '../request-context'
import { exchangeTicketForUser } from './exchange-ticket'
import { digestOf, joinFinished, type LoginLock, runExclusive } from './login-single-flight'
import { endWithSsoSession, resolveUser } from './resolve-user'

/** Input of the login form. */
export interface Credentials {
  /** The username as typed, 1 to 256 characters. */
  readonly username: string
  /** The password or a one-time password, 1 to 1024 characters. */
  readonly password: string
}

const MAX_USERNAME = 256
const MAX_PASSWORD = 1024
/** Limit of both together, in bytes of JSON. The SSO system refuses a longer token unread. A control character takes six bytes. */
const MAX_WRITTEN = 4096

const failedLogin = (error: LoginError): LoginResult => ({ ok: false, error })

function areCredentials(value: { username?: unknown; password?: unknown }): value is Credentials {
  const { username, password } = value
  const isText = (text: unknown, most: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= most && !text.includes('\u0000')
  if (!isText(username, MAX_USERNAME) || !isText(password, MAX_PASSWORD)) return false
  return Buffer.byteLength(JSON.stringify([username, password])) <= MAX_WRITTEN
}

/** What a form or a handler of the site sends. */
type Input = { readonly username?: unknown; readonly password?: unknown }

/** Logs in. Never throws for a documented code. */
export async function logIn(context: RequestContext, input: Input): Promise<LoginResult> {
  const started = performance.now()
  const sidHash = context.stored.value?.sidHash
  const result = await startOrJoinLogin(context, input)
  publish('login', {
    operation: 'authenticate',
    outcome: result.ok ? 'logged_in' : 'refused',
    durationMs: performance.now() - started,
    sidHash,
    reason: result.ok ? undefined : result.error,
  })
  return result
}

/** Simultaneous submits of one form share one Authenticate and its result. */
async function startOrJoinLogin(context: RequestContext, credentials: Input): Promise<LoginResult> {
  if (!areCredentials(credentials)) return failedLogin('invalid_request')
  const { stored, site } = context
  const { username, password } = credentials
  const { key } = stored
  const submit = { digest: digestOf([username, password]), arrivedAt: site.sessions.arrivalOf(context.req) }
  if (context.hasSessionJustEnded && key !== undefined) {
    const shared = await joinFinished(context, { key, ...submit })
    if (shared) return shared
  }
  await dropSessionOfOtherBrowser(context)
  const error = decideLoginStart({
    isStoreAvailable: stored.hasBeenRead,
    isSsoAvailable: site.identifyHealth.isAvailable,
    hasRecord: stored.value !== undefined,
    isLandingUnstored: isLandingUnstored(context),
  })
  if (error !== undefined || key === undefined) return failedLogin(error ?? 'session_ended')
  return runExclusive(context, { key, ...submit }, (lock) => runLogin(context, { username, password }, lock))
}

/**
 * Drops an anonymous session that another browser began. A login would log in the other browser too, so the visitor gets a new session.
 * Threats L2, S1.
 */
export async function dropSessionOfOtherBrowser(context: RequestContext): Promise<void> {
  const { stored } = context
  if (isBegunByOtherBrowser(stored.value, browserName(context)) && (await stored.drop(() => true)) !== 'done')
    stored.forget()
}

function runLogin(context: RequestContext, credentials: Credentials, lock: LoginLock): Promise<LoginResult> {
  return attemptLogin(context, credentials, lock).catch((error: unknown): LoginResult => {
    const failure = { step: 'authenticate', error, isHookOfSite: false } as const
    context.site.config.log.failed('login', failure, [credentials.password, context.stored.secrets?.sid])
    return failedLogin('unavailable')
  })
}

function refusedLogin({ reason, seconds }: Refusal): LoginResult {
  publish('login', { operation: 'limit', outcome: 'limited', durationMs: 0, reason })
  return { ok: false, error: 'too_many_attempts', retryAfterSeconds: seconds }
}

async function attemptLogin(context: RequestContext, credentials: Credentials, lock: LoginLock): Promise<LoginResult> {
  const sent = await sendLogin(context, credentials, lock)
  if (!('attempt' in sent)) return sent
  const { decision, attempt, admission, start } = sent
  const [result, left] = await Promise.all([applyLoginDecision(context, decision, start), admission?.settle(attempt)])
  const { req, res, site } = context
  if (!result.ok) return withinLimits(result, left)
  if (sent.isAnswered) site.limits.rememberDevice(req, res, credentials.username)
  return result
}

const UNJUDGED_ATTEMPT: AttemptResult = { outcome: 'not_judged' }

interface AttemptedLogin {
  readonly decision: LoginDecision
  readonly attempt: AttemptResult
  /** Has the SSO system judged this password? Session Status tells only that a user is logged in, perhaps by another site. */
  readonly isAnswered: boolean
}
interface SentLogin extends AttemptedLogin {
  readonly start: LoginStart
  /** `undefined` if no Authenticate was sent. */
  readonly admission?: Admission
}

/**
 * Sends the login to the SSO system, after a status check if the record is stale. Interface: "POST {sso_url}/sessionstatus", "POST {sso_url}/authenticate".
 * @returns a result if no Authenticate was sent
 */
async function sendLogin(
  context: RequestContext,
  credentials: Credentials,
  lock: LoginLock,
): Promise<SentLogin | LoginResult> {
  const { site, stored } = context
  const couldHaveBeenIn = couldBeLoggedIn(stored.value)
  await resolveUser(context, { identify: 'never' })
  const couldBeIn = couldHaveBeenIn && couldBeLoggedIn(stored.value) // the check may have found the login of the dead process
  const start = site.sessionIndex.startNow()
  const { secrets } = stored
  if (!secrets) return failedLogin('session_ended')
  const known = lock.isSuccessor ? await continueLostLogin(context, secrets.sid, couldBeIn) : undefined
  if (known) return { ...known, start }
  const admission = await site.limits.admit(context.req, credentials.username) // last, because the steps before may have taken long
  if (admission === 'unavailable') return failedLogin(admission)
  if ('reason' in admission) return refusedLogin(admission)
  if (!(await lock.isHeld())) {
    await admission.settle(UNJUDGED_ATTEMPT)
    return failedLogin('busy')
  }
  return { ...(await callAuthenticate(context, secrets.sid, credentials)), start, admission }
}

/**
 * Continues a login whose process died after it may have sent Authenticate.
 * @param couldBeIn could an earlier login have succeeded?
 * @returns `undefined` if this process may send Authenticate
 */
async function continueLostLogin(
  context: RequestContext,
  sid: string,
  couldBeIn: boolean,
): Promise<AttemptedLogin | undefined> {
  const decision = decideAbandonedLogin(await checkLostLogin(context, sid, couldBeIn))
  return decision && { decision, attempt: UNJUDGED_ATTEMPT, isAnswered: false }
}

/**
 * Looks up the outcome of an Authenticate by Session Status.
 * @param couldBeIn could an earlier login have succeeded? Then the SSO session is logged in even after a wrong password
 * @returns `undefined` if the outcome is unknown. A later request then checks the status
 */
async function checkLostLogin(
  context: RequestContext,
  sid: string,
  couldBeIn: boolean,
): Promise<SessionToken | undefined> {
  const { req, site, stored } = context
  const claims = { sid, lks: 'anon', ...deviceOf(req) } as const
  const answer = couldBeIn ? undefined : await site.client.sessionStatus(claims).catch(() => undefined)
  if (answer === undefined) await stored.update((found) => afterUnknownLogin(found, shortHash(sid)))
  return answer
}

/** Sends one Authenticate. If the response is lost, looks up the outcome by Session Status and never sends a second Authenticate. */
async function callAuthenticate(
  context: RequestContext,
  sid: string,
  { username, password }: Credentials,
): Promise<AttemptedLogin> {
  try {
    const claims = { sid, usr: username, pwd: password, ...deviceOf(context.req) }
    const answer = await context.site.client.authenticate(claims)
    return { decision: decideLogin(answer), attempt: attemptResultOf(answer), isAnswered: true }
  } catch (error) {
    const attempt = lostAttemptResult(error)
    if (error instanceof Sso2UnavailableError && error.retryable)
      return { decision: { action: 'unavailable' }, attempt, isAnswered: false }
    const decision = decideLostLogin(await checkLostLogin(context, sid, couldBeLoggedIn(context.stored.value)))
    return { decision, attempt: decision.action === 'sign_in' ? { outcome: 'success' } : attempt, isAnswered: false }
  }
}

async function applyLoginDecision(
  context: RequestContext,
  decision: LoginDecision,
  start: LoginStart,
): Promise<LoginResult> {
  switch (decision.action) {
    case 'sign_in': {
      const redeemed = await exchangeTicketForUser(context, decision.token, start)
      if (redeemed.outcome === 'signed_in') {
        if (context.stored.value === undefined) return failedLogin('session_ended') // the site has logged out in `onLogin`
        dropLogoutCookie(context) // only a form is a new login: what a landing or status check finds may be older than the logout
        return { ok: true, user: redeemed.user }
      }
      const isOver = redeemed.outcome === 'lost_race' || redeemed.outcome === 'too_late'
      return failedLogin(isOver ? 'session_ended' : 'unavailable')
    }
    case 'show_error': {
      const { action: _shown, ...failure } = decision
      return { ok: false, ...failure }
    }
    case 'identify':
      // the SSO session is over: the next page load begins another
      await endWithSsoSession(context, context.stored.value?.sidHash ?? '')
      return failedLogin('session_ended')
    case 'unavailable':
      return failedLogin('unavailable')
  }
}
