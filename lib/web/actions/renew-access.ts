/** The access token of a logged-in visitor, and a new one where the protocol allows it: Session Status with `lks` `anon` hands out a ticket. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isAccessTokenExpired, isLoggedIn, mayStillBeRenewed, withoutAccessToken } from '../../decide/record'
import { type Identity, identifiedUser } from '../../decide/request-decision'
import { Sso2UnavailableError } from '../../errors'
import type { AccessTokenSource } from '../../remote/rest-call'
import type { RequestContext } from '../request-context'
import { resolveUser } from './resolve-user'

/** One session asks for a new access token at most once in this time. */
const RENEW_EVERY_SECONDS = 10
const POLL_MS = 50

/** The source of this visitor's access token; `undefined` when nobody is shown as logged in, or no token is known. */
export function accessTokenOf(context: RequestContext, { record }: Identity): AccessTokenSource | undefined {
  if (!isLoggedIn(record)) return undefined
  const first = context.site.records.open(record)?.accessToken
  if (first === undefined) return undefined
  const { accountId } = record.user
  let token: string | undefined = first
  let renewal: Promise<string | undefined> | undefined
  const renewed = (useless: string) => {
    // parallel calls share one renewal
    renewal ??= renew(context, accountId, useless).finally(() => {
      renewal = undefined
    })
    return renewal
  }
  return async (refused) => {
    const useless = refused ?? (isAccessTokenExpired(record, context.site.now()) ? first : undefined)
    if (token === undefined || token === useless) token = await renewed(token ?? first)
    return token
  }
}

/** @returns another token of the same account than the one that was refused; `undefined` when none can be had now */
async function renew(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  const { site, stored } = context
  const known = await readOther(context, accountId, refused)
  if (known !== undefined || stored.key === undefined) return known
  const claim = await site.records.lockRenewal(stored.key, RENEW_EVERY_SECONDS)
  if (claim === 'unavailable') throw unavailable('the session store')
  if (!claim) return waitForOther(context, accountId, refused)
  await noteRefused(context)
  const { asking, asked } = stored.value ?? {}
  const outcome = await resolveUser(context, { identify: 'never', fresh: { asking, asked } })
  const degraded = outcome.action === 'show' ? outcome.identity.degraded : undefined
  if (degraded === 'store_unavailable') throw unavailable('the session store')
  if (degraded === 'sso_unavailable') throw unavailable('the SSO system')
  return tokenOf(context, accountId, refused)
}

const unavailable = (system: string) =>
  new Sso2UnavailableError('sessionstatus', true, `no new access token: ${system} does not answer`)

/** From here on every check asks for a ticket, and a page load goes through Identify where none came. */
async function noteRefused({ stored }: RequestContext): Promise<void> {
  const written = await stored.update((found) => (isLoggedIn(found) ? withoutAccessToken(found) : undefined))
  if (written === 'unavailable') throw unavailable('the session store')
}

async function waitForOther(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  const start = performance.now()
  for (;;) {
    const token = await readOther(context, accountId, refused)
    if (token !== undefined || !mayStillBeRenewed(context.stored.value, performance.now() - start)) return token
    await sleep(POLL_MS)
  }
}

async function readOther(context: RequestContext, accountId: string, refused: string): Promise<string | undefined> {
  if ((await context.stored.reread()) === 'unavailable') throw unavailable('the session store')
  return tokenOf(context, accountId, refused)
}

/** A call that was begun for one account never goes on with another one's token. */
function tokenOf({ stored }: RequestContext, accountId: string, refused: string): string | undefined {
  const user = identifiedUser({ record: stored.value, degraded: undefined })
  const token = user?.accountId === accountId ? stored.secrets?.accessToken : undefined
  return token === refused ? undefined : token
}
