/** Logs a user in by username and password: one Authenticate for all simultaneous submits. Of the password, only an encrypted digest is stored, for the seconds of the login. Threats F3 to F9. */
import { createHash } from 'node:crypto'
import { withDeadline } from '../../deadline'
import {
  decideLogin,
  decideLostLogin,
  decideSilentLogin,
  type FailedLogin,
  isJudged,
  type LoginResult,
  loginFailed,
  withinLimits,
} from '../../decide/login'
import { couldBeLoggedIn, type Entry, isLoggedIn } from '../../decide/record'
import type { EpochMs } from '../../protocol/claims'
import type { TicketToken } from '../../protocol/session-token'
import { unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { publish } from '../hooks'
import { deviceOf } from '../http/request-facts'
import { hasBegun, logInByTicket } from './begin-session'
import { endSession, visit } from './visit'

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

/** The lock of a login (lib/storage/locks.ts) has room for so long a visit, and for so long a Session Status call after a lost response. */
const [MAX_VISIT_MS, MAX_STATUS_MS] = [1500, 2000]

function areCredentials(input: Input): input is Credentials {
  const { username, password } = input
  const isText = (text: unknown, most: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= most && !text.includes('\u0000')
  if (!isText(username, MAX_USERNAME) || !isText(password, MAX_PASSWORD)) return false
  return Buffer.byteLength(JSON.stringify([username, password])) <= MAX_WRITTEN
}

/** Logs in. Never throws for a documented code. */
export async function logInByPassword(ctx: Context, input: Input): Promise<LoginResult> {
  const began = performance.now()
  const sidHash = ctx.record?.sidHash
  const result = await unlessUnavailable(() => logInOnce(ctx, input), loginFailed('unavailable'))
  publish('login', {
    operation: 'authenticate',
    outcome: result.ok ? 'logged_in' : 'refused',
    durationMs: performance.now() - began,
    sidHash,
    reason: result.ok ? undefined : result.error,
  })
  return result
}

async function logInOnce(ctx: Context, credentials: Input): Promise<LoginResult> {
  if (!areCredentials(credentials)) return loginFailed('invalid_request')
  const { session, site, record, returnCount } = ctx
  if (!session.isAvailable) return loginFailed('unavailable')
  if (!record && !session.gone) {
    // a session that has moved may have the result of the same form. Any other browser needs a session of the SSO system first
    const mayGetOne = site.identifyHealth.isAvailable && returnCount?.cause !== 'store_unavailable'
    return loginFailed(mayGetOne ? 'session_ended' : 'unavailable')
  }
  const digest = createHash('sha256')
    .update(JSON.stringify([credentials.username, credentials.password]))
    .digest('base64url')
  const run = async (entry: Entry) => {
    session.entry = entry
    const result = await runLogin(ctx, credentials)
    return { result, sessionId: result.ok ? session.id : undefined }
  }
  const once = await site.locks.once(session.key ?? '', digest, run, ({ result }) => isJudged(result))
  if (once === undefined) return loginFailed('unavailable')
  const { result, sessionId } = once.result
  if (once.outcome === 'ran' || sessionId === undefined) return result
  await session.adopt(sessionId) // the login of another submit
  if (!ctx.record) return loginFailed('session_ended') // logged out in the meantime
  ctx.dropLogoutMark()
  return result
}

/** Logs in while no other submit of the session does. A stale record is checked first, which finds the login of a process that has died. */
async function runLogin(ctx: Context, credentials: Credentials): Promise<LoginResult> {
  const { site, req, res } = ctx
  const began = performance.now()
  await visit(ctx, { identify: 'never' })
  if (performance.now() - began > MAX_VISIT_MS) return loginFailed('unavailable') // the status is known now, so the next submit is quick
  const { record } = ctx
  const sid = record && site.records.open(record)?.sid
  if (!record || sid === undefined) return loginFailed(ctx.session.isAvailable ? 'session_ended' : 'unavailable')
  const admission = await site.limits.admit(req, credentials.username) // last, because the steps before may have taken long
  if ('reason' in admission) {
    publish('login', { operation: 'limit', outcome: 'limited', reason: admission.reason })
    return { ok: false, error: 'too_many_attempts', retryAfterSeconds: admission.seconds }
  }
  const startedAt = site.config.clock.now()
  const { answer, attempt } = await authenticate(ctx, sid, credentials, couldBeLoggedIn(record))
  const finished = answer.ok ? finish(ctx, answer.token, startedAt) : settleRecord(ctx, answer)
  const [result, left] = await Promise.all([
    finished,
    admission.settle(attempt, answer.ok ? undefined : answer.remainingAttempts),
  ])
  if (!result.ok) return withinLimits(result, left)
  if (attempt === 'success') site.limits.rememberDevice(req, res, credentials.username)
  return result
}

/**
 * Sends one Authenticate. If the response is lost, Session Status tells the outcome. A second Authenticate is never sent.
 * @param couldBeIn could an earlier login have succeeded? Then Session Status says nothing about this one
 */
async function authenticate(ctx: Context, sid: string, credentials: Credentials, couldBeIn: boolean) {
  const { username: usr, password: pwd } = credentials
  const device = deviceOf(ctx.req)
  try {
    return decideLogin(await ctx.site.client.authenticate({ sid, usr, pwd, ...device }))
  } catch (error) {
    const silent = decideSilentLogin(error)
    if (silent.attempt === 'not_judged' || couldBeIn) return silent
    const status = ctx.site.client.sessionStatus({ sid, lks: 'anon', ...device })
    const found = await withDeadline(status, MAX_STATUS_MS, 'Session Status is late').catch(() => undefined)
    return found ? decideLostLogin(silent, found) : silent
  }
}

async function finish(ctx: Context, token: TicketToken, startedAt: EpochMs): Promise<LoginResult> {
  const outcome = await logInByTicket(ctx, token, startedAt)
  const isUnknown = outcome === 'user_unknown' || outcome === 'not_renewed'
  if (isUnknown || outcome === 'voided') return loginFailed('unavailable') // voided: a logout of all sessions is still to be confirmed
  if (!hasBegun(outcome) || !isLoggedIn(ctx.record)) return loginFailed('session_ended') // or the site has logged out in `onLogin`
  ctx.dropLogoutMark()
  return { ok: true, user: ctx.record.user }
}

/** Leaves the record so that the next request finds what the failure left open. */
async function settleRecord(ctx: Context, failure: FailedLogin): Promise<FailedLogin> {
  if (failure.error === 'session_ended') await endSession(ctx)
  else if (failure.error === 'unavailable' && !isLoggedIn(ctx.record)) await ctx.update({ checkedAt: 0 }) // the next request checks the status
  return failure
}
