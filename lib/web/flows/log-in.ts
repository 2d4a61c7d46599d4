/** Logs a user in by username and password: one Authenticate for all simultaneous submits. Of the password, only an encrypted digest is stored, for the seconds of the login. Threats F3 to F9. */
import { createHash } from 'node:crypto'
import {
  type AttemptResult,
  attemptResultOf,
  decideLogin,
  decideLostLogin,
  type LoginDecision,
  type LoginError,
  type LoginResult,
  lostAttemptResult,
  withinLimits,
} from '../../decide/login'
import { couldBeLoggedIn, isLoggedIn, type SsoRecord } from '../../decide/record'
import { Sso2UnavailableError } from '../../errors'
import type { EpochMs } from '../../protocol/claims'
import { LOGIN_SECONDS } from '../../storage/locks'
import { shortHash, unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import type { Refusal } from '../limits'
import { checkNext, endSession } from './check'
import { type ExchangeOutcome, exchangeTicket } from './exchange-ticket'
import { visit } from './visit'

/** Input of the login form. */
export interface Credentials {
  /** The username as typed, 1 to 256 characters. */
  readonly username: string
  /** The password or a one-time password, 1 to 1024 characters. */
  readonly password: string
}

/** What a form or a handler of the site sends. */
type Input = { readonly username?: unknown; readonly password?: unknown }

const MAX_USERNAME = 256
const MAX_PASSWORD = 1024
/** Limit of both together, in bytes of JSON. The SSO system refuses a longer token unread. A control character takes six bytes. */
const MAX_WRITTEN = 4096

const failed = (error: LoginError): LoginResult => ({ ok: false, error })

function areCredentials({ username, password }: Input): boolean {
  const isText = (text: unknown, most: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= most && !text.includes('\u0000')
  if (!isText(username, MAX_USERNAME) || !isText(password, MAX_PASSWORD)) return false
  return Buffer.byteLength(JSON.stringify([username, password])) <= MAX_WRITTEN
}

/** Logs in. Never throws for a documented code. */
export async function logIn(ctx: Context, input: Input): Promise<LoginResult> {
  const began = performance.now()
  const sidHash = ctx.record?.sidHash
  const result = await unlessUnavailable(() => logInOnce(ctx, input), failed('unavailable'))
  publish('login', {
    operation: 'authenticate',
    outcome: result.ok ? 'logged_in' : 'refused',
    durationMs: performance.now() - began,
    sidHash,
    reason: result.ok ? undefined : result.error,
  })
  return result
}

/** Result of a login, and the session that it began. */
interface SharedLogin {
  readonly result: LoginResult
  readonly sessionId: string | undefined
}

async function logInOnce(ctx: Context, input: Input): Promise<LoginResult> {
  if (!areCredentials(input)) return failed('invalid_request')
  const credentials = { username: String(input.username), password: String(input.password) }
  await dropSessionOfOtherBrowser(ctx)
  const error = whyNot(ctx)
  if (error) return failed(error)
  const digest = createHash('sha256')
    .update(JSON.stringify([credentials.username, credentials.password]))
    .digest('base64url')
  const run = async (): Promise<SharedLogin> => {
    const result = await runLogin(ctx, credentials)
    return { result, sessionId: result.ok ? ctx.session.id : undefined }
  }
  const once = await ctx.site.locks.once(ctx.session.key ?? '', digest, run, ({ result }) => isJudged(result))
  switch (once.outcome) {
    case 'ran':
      return once.result.result
    case 'shared':
      return share(ctx, once.result)
    case 'over':
      return failed('session_ended')
    case 'busy':
      return failed('busy')
  }
}

/** A result that says nothing about the password is not for the next submit. */
const isJudged = (result: LoginResult) => result.ok || !NOT_JUDGED.has(result.error)
const NOT_JUDGED: ReadonlySet<LoginError> = new Set(['unavailable', 'session_ended', 'busy', 'too_many_attempts'])

/** Returns why a login may not begin. Without a session, the browser needs one of the SSO system first. */
function whyNot({ session, record, site, returns }: Context): LoginError | undefined {
  if (!session.isAvailable) return 'unavailable'
  if (record || session.gone) return undefined // a session that has moved may have the result of the same form
  if (returns?.cause === 'store_unavailable') return 'unavailable' // Redis did not store the landing, so another redirect brings no session
  return site.identifyHealth.isAvailable ? 'session_ended' : 'unavailable'
}

/** Gives another submit of the form the result and the session of the first. */
async function share(ctx: Context, { result, sessionId }: SharedLogin): Promise<LoginResult> {
  if (!result.ok || sessionId === undefined) return result
  await ctx.session.adopt(sessionId, ctx.site.records)
  if (!ctx.record) return failed('session_ended') // logged out in the meantime
  ctx.dropMark()
  return result
}

/**
 * Drops an anonymous session that another browser began. A login would log in the other browser too, so the visitor gets a new session.
 * Threats L2, S1.
 */
export async function dropSessionOfOtherBrowser(ctx: Context): Promise<void> {
  const { record, binding, session } = ctx
  if (!session.isExternal || record?.status !== 'anon' || record.browser === undefined) return
  if (binding === undefined || record.browser !== shortHash(binding)) await endSession(ctx)
}

/** Logs in while no other submit of the session does. A stale record is checked first, which finds the login of a process that has died. */
async function runLogin(ctx: Context, credentials: Credentials): Promise<LoginResult> {
  const { site, req, res } = ctx
  await visit(ctx, { identify: 'never' })
  const { record } = ctx
  const sid = record && site.records.open(record)?.sid
  if (!record || sid === undefined) return failed(ctx.session.isAvailable ? 'session_ended' : 'unavailable')
  const admission = await site.limits.admit(req, credentials.username) // last, because the steps before may have taken long
  if (admission === 'unavailable') return failed(admission)
  if ('reason' in admission) return refused(admission)
  const startedAt = site.config.clock.now()
  if (!(await expectLogin(ctx, record))) {
    await admission.settle({ outcome: 'not_judged' })
    return failed('session_ended')
  }
  const { decision, attempt, isAnswered } = await authenticate(ctx, sid, credentials, couldBeLoggedIn(record))
  if (isAnswered && decision.action === 'show_error') await ctx.update({ checkedAt: record.checkedAt })
  const [result, left] = await Promise.all([finish(ctx, decision, startedAt), admission.settle(attempt)])
  if (!result.ok) return withinLimits(result, left)
  if (isAnswered) site.limits.rememberDevice(req, res, credentials.username)
  return result
}

function refused({ reason, seconds }: Refusal): LoginResult {
  publish('login', { operation: 'limit', outcome: 'limited', durationMs: 0, reason })
  return { ok: false, error: 'too_many_attempts', retryAfterSeconds: seconds }
}

/**
 * Lets a request after the login check the status, in case this process dies. Not a request during the login, which would log in by itself.
 * @returns false if the session has ended
 */
const expectLogin = async (ctx: Context, record: SsoRecord): Promise<boolean> =>
  isLoggedIn(record) ||
  (await ctx.update({ checkedAt: ctx.site.now() - ctx.site.config.recheckSeconds + LOGIN_SECONDS }))

interface Answered {
  readonly decision: LoginDecision
  readonly attempt: AttemptResult
  /** Has the SSO system judged this password? Session Status tells only that a user is logged in, perhaps by another site. */
  readonly isAnswered: boolean
}

/**
 * Sends one Authenticate. If the response is lost, Session Status tells the outcome. A second Authenticate is never sent.
 * @param couldBeIn could an earlier login have succeeded? Then Session Status says nothing about this one
 */
async function authenticate(
  ctx: Context,
  sid: string,
  credentials: Credentials,
  couldBeIn: boolean,
): Promise<Answered> {
  const { client } = ctx.site
  const { username: usr, password: pwd } = credentials
  const device = deviceOf(ctx.req)
  try {
    const answer = await client.authenticate({ sid, usr, pwd, ...device })
    return { decision: decideLogin(answer), attempt: attemptResultOf(answer), isAnswered: true }
  } catch (error) {
    const attempt = lostAttemptResult(error)
    const isSent = !(error instanceof Sso2UnavailableError && error.retryable)
    if (!isSent || couldBeIn) return { decision: { action: 'unavailable' }, attempt, isAnswered: false }
    const found = await client.sessionStatus({ sid, lks: 'anon', ...device }).catch(() => undefined)
    const decision = decideLostLogin(found)
    return { decision, attempt: decision.action === 'sign_in' ? { outcome: 'success' } : attempt, isAnswered: false }
  }
}

/** The user could not be loaded, or a logout of all sessions is still to be confirmed. */
const TRY_AGAIN: ReadonlySet<ExchangeOutcome['outcome']> = new Set(['user_unknown', 'voided'])

async function finish(ctx: Context, decision: LoginDecision, startedAt: EpochMs): Promise<LoginResult> {
  switch (decision.action) {
    case 'sign_in': {
      const exchanged = await exchangeTicket(ctx, decision.token, startedAt)
      if (exchanged.outcome !== 'signed_in')
        return failed(TRY_AGAIN.has(exchanged.outcome) ? 'unavailable' : 'session_ended')
      if (!ctx.record) return failed('session_ended') // the site has logged out in `onLogin`
      ctx.dropMark()
      return { ok: true, user: exchanged.user }
    }
    case 'show_error': {
      const { action: _shown, ...failure } = decision
      return { ok: false, ...failure }
    }
    case 'identify':
      await endSession(ctx) // the next page load begins another SSO session
      return failed('session_ended')
    case 'unavailable':
      if (!isLoggedIn(ctx.record)) await checkNext(ctx) // for the outcome
      return failed('unavailable')
  }
}
