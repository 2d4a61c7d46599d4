/** One login: limit, fresh record, one Authenticate, its outcome. Nothing keeps the password. Threats F3 to F9. */
import { decideLogin, type LoginDecision, type LoginError, type LoginResult } from '../decide/login'
import { staleAfter } from '../decide/record'
import { Sso2UnavailableError } from '../errors'
import type { SessionToken } from '../protocol/session-token'
import { StoreUnavailableError } from '../storage/unavailable'
import { check, endRecord } from './check'
import { publish } from './events'
import { deviceOf } from './facts'
import { deviceMarkOf, rememberDevice } from './known-device'
import { inOneFlight } from './login-flight'
import { identify, openBox, signIn, stayAnonymous } from './sign-in'
import type { Visit } from './visit'

/** What the user typed. */
export interface Credentials {
  readonly username: string
  readonly password: string
}

const MAX_USERNAME = 256
const MAX_PASSWORD = 1024

const failed = (error: LoginError): LoginResult => ({ ok: false, error })

/** Is this what a form may send? */
export function areCredentials(value: { username?: unknown; password?: unknown }): value is Credentials {
  const { username, password } = value
  const isText = (text: unknown, most: number) =>
    typeof text === 'string' && text.length > 0 && text.length <= most && !text.includes('\u0000')
  return isText(username, MAX_USERNAME) && isText(password, MAX_PASSWORD)
}

/** Logs in. Two submits of one form at once share one Authenticate and its result. Never throws for a documented code. */
export async function login(
  visit: Visit,
  credentials: { username?: unknown; password?: unknown },
): Promise<LoginResult> {
  if (!areCredentials(credentials)) return failed('invalid_request')
  const { key } = visit
  if (!visit.isStoreAvailable) return failed('unavailable')
  if (key === undefined || !visit.record) return failed('session_ended')
  const { username, password } = credentials
  try {
    return await inOneFlight(visit, key, [username, password], () => run(visit, { username, password }))
  } catch (error) {
    if (error instanceof StoreUnavailableError) return failed('unavailable')
    throw error
  }
}

async function run(visit: Visit, credentials: Credentials): Promise<LoginResult> {
  const started = performance.now()
  const sidHash = visit.record?.sidHash
  const result = await attempt(visit, credentials).catch((): LoginResult => failed('unavailable'))
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
async function attempt(visit: Visit, credentials: Credentials): Promise<LoginResult> {
  const { username } = credentials
  const tried = { address: deviceOf(visit.req).ipa, username, deviceMark: deviceMarkOf(visit, username) }
  const result = await visit.site.loginLimit.run(
    tried,
    () => ask(visit, credentials),
    (reason) => publish('login', { operation: 'limit', outcome: 'limited', durationMs: 0, reason }),
  )
  if (result.ok) rememberDevice(visit, username)
  return result
}

async function ask(visit: Visit, credentials: Credentials): Promise<LoginResult> {
  if (!(await isSessionFresh(visit)) || !visit.record) return failed('session_ended')
  const box = openBox(visit, visit.record)
  if (!box) return failed('session_ended')
  const { decision, token } = await authenticate(visit, box.sid, credentials)
  return carryOut(visit, decision, token)
}

/** A stale record is checked first. Interface: "POST {sso_url}/sessionstatus". */
async function isSessionFresh(visit: Visit): Promise<boolean> {
  const { site, record } = visit
  if (!record) return false
  if (site.now() - record.checkedAt < staleAfter(record, site.config.recheckSeconds)) return true
  return (await check(visit, record)) === 'settled'
}

/** One Authenticate; an answer that was lost is resolved by Session Status, never by asking twice. */
async function authenticate(
  visit: Visit,
  sid: string,
  { username, password }: Credentials,
): Promise<{ decision: LoginDecision; token: SessionToken | undefined }> {
  const { client } = visit.site
  const device = deviceOf(visit.req)
  try {
    const token = await client.authenticate({ sid, usr: username, pwd: password, ...device })
    return { decision: decideLogin(token), token }
  } catch (error) {
    if (error instanceof Sso2UnavailableError && error.retryable)
      return { decision: { do: 'not_now' }, token: undefined }
  }
  try {
    const token = await client.sessionStatus({ sid, lks: 'anon', ...device })
    const isIn = token.err === undefined && token.sts === 'loggedin' && token.at !== undefined
    return { decision: isIn ? { do: 'sign_in', token } : { do: 'not_now' }, token }
  } catch {
    return { decision: { do: 'not_now' }, token: undefined }
  }
}

async function carryOut(visit: Visit, decision: LoginDecision, token: SessionToken | undefined): Promise<LoginResult> {
  switch (decision.do) {
    case 'sign_in':
      return completeLogin(visit, decision.token)
    case 'show': {
      const { do: _shown, ...shown } = decision
      return { ok: false, ...shown }
    }
    case 'identify':
      return sessionEnded(visit)
    case 'ask_status':
    case 'not_now':
      return token?.err === 'session_not_found' ? sessionEnded(visit) : failed('unavailable')
  }
}

/** The SSO system has forgotten the session: ours ends too, so that the next page load brings another one. */
async function sessionEnded(visit: Visit): Promise<LoginResult> {
  await endRecord(visit)
  return failed('session_ended')
}

/** The SSO system said yes; if the user cannot be named now, the login stays pending and no second password is needed. */
async function completeLogin(visit: Visit, token: SessionToken): Promise<LoginResult> {
  let named: Awaited<ReturnType<typeof identify>>
  try {
    named = await identify(visit, token)
  } catch {
    await stayAnonymous(visit, token.sid ?? '', true)
    return failed('unavailable')
  }
  return (await signIn(visit, named)) === 'done' ? { ok: true, user: named.user } : failed('session_ended')
}
