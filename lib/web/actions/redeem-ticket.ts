/**
 * A ticket becomes an access token and a user, and the browser's session his: for landing, login and check alike.
 * Ticket, access token, user and session ID travel in one chain of local variables. Interface: "SSO2", point 3; threats L9, O12.
 */
import { accessFailed, isLoggedIn, type LoggedInRecord, type SsoRecord } from '../../decide/record'
import { Sso2ResponseError } from '../../errors'
import type { SessionToken } from '../../protocol/session-token'
import { type Dependency, isNotSent } from '../../remote/dependency'
import { PlatformApi } from '../../remote/platform-api'
import { readGrant } from '../../remote/ticket'
import { shortHash } from '../../storage/hashes'
import type { LoginStart } from '../../storage/session-index'
import { callListener, HOOKS_MS, inTime } from '../hooks'
import type { Hook } from '../site'
import { readUser } from '../user'
import type { Visit } from '../visit'
import { type Established, type NamedUser, signIn, stayAnonymous } from './sign-in'
import { dropSignedOut } from './signed-out'

/** What became of a ticket. `user_unknown`: it could not be used; the SSO session is remembered and asked about again soon. */
export type Redeemed = { readonly did: 'signed_in'; readonly user: NamedUser['user'] } | { readonly did: Failed }
type Failed = 'user_unknown' | Exclude<Established, 'done'>

/**
 * Redeems the ticket of a verified token.
 * @param start noted before the token was asked for, or taken
 * @param question the name of the status check that brought it, if one did
 */
export async function redeemTicket(
  visit: Visit,
  token: SessionToken,
  start: LoginStart,
  question?: string,
): Promise<Redeemed> {
  const named = await nameUser(visit, token)
  if (named === undefined) return { did: await rememberUnknown(visit, token.sid ?? '', question) }
  const established = await signIn(visit, named, start, question)
  if (established !== 'done' && established !== 'renewed') return { did: established }
  dropSignedOut(visit)
  const { onLogin, config } = visit.site
  if (onLogin && established === 'done') await callListener('onLogin', config.log, () => onLogin(visit.req, named.user))
  return { did: 'signed_in', user: named.user }
}

/** @returns nothing where the exchange, the REST API or a hook of the site failed: one line tells the operator which, and why */
async function nameUser({ site }: Visit, { sid, at }: SessionToken): Promise<NamedUser | undefined> {
  let step: Hook = 'exchangeTicket'
  let accessToken: string | undefined
  try {
    if (sid === undefined || at === undefined) throw new Sso2ResponseError('token', undefined, 'no ticket')
    const signal = AbortSignal.timeout(HOOKS_MS)
    const exchange = () => inTime('exchangeTicket', signal, async () => site.exchange(at, { sid, signal }))
    const grant = readGrant(await runWatched(site.loginDependencies.token, 'token', exchange), site.now())
    step = 'loadUser'
    accessToken = grant.token()
    const api = new PlatformApi({ apiUrl: site.config.apiUrl, accessToken })
    const context = { accessToken, api, sid }
    const name = () => inTime('loadUser', signal, async () => site.loadUser(context))
    const user = readUser(await runWatched(site.loginDependencies.user, 'loadUser', name))
    return { user, secrets: { sid, accessToken }, accessUntil: grant.expiresAt }
  } catch (error) {
    const failure = { step, error, isOwn: site.ownHooks.has(step) }
    if (!isNotSent(error)) site.config.log.failed(step, failure, [at, sid, accessToken])
    return undefined
  }
}

const runWatched = <T>(dependency: Dependency | undefined, operation: string, call: () => Promise<T>) =>
  dependency ? dependency.run(operation, call, 'user_call') : call()

/** A known login of the same session goes on with what it has; any other session is pending. */
async function rememberUnknown(visit: Visit, sid: string, question: string | undefined): Promise<Failed> {
  if (isLoginOf(visit.stored.value, sid)) return 'user_unknown'
  const remembered = await stayAnonymous(visit, { sid, pending: true, question })
  return remembered === 'done' ? 'user_unknown' : remembered
}

/** A trip brought a ticket that could not be used: the reader goes on with what he has, and makes no other one for a while. */
export async function noteWastedTrip(visit: Visit, sid: string): Promise<void> {
  const now = visit.site.now()
  await visit.stored.update((found) => (isLoginOf(found, sid) ? accessFailed(found, now) : undefined))
}

function isLoginOf(record: SsoRecord | undefined, sid: string): record is LoggedInRecord {
  return isLoggedIn(record) && record.sidHash === shortHash(sid)
}
