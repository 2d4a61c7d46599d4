/** The access token of the user, for `req.sso2.api`. A token that has expired, or that the REST API refuses, is renewed by a status check. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isLoggedIn, type SsoRecord } from '../../decide/record'
import { Sso2UnavailableError } from '../../errors'
import type { AccessTokenSource } from '../../remote/rest-call'
import { unlessUnavailable } from '../../storage/site-store'
import type { Context } from '../context'
import { visit } from './visit'

/** A session requests at most one new access token in this time. */
const RENEW_EVERY_SECONDS = 10
/** A call waits at most so long for the renewal of another request. */
const RENEWAL_MS = 3000
const POLL_MS = 100

/** Returns the source of the user's access token. `undefined` without a logged-in user or a known token. */
export function accessTokenOf(ctx: Context): AccessTokenSource | undefined {
  const { record } = ctx.identity
  const first = isLoggedIn(record) ? tokenOf(ctx, record, record.user.accountId) : undefined
  if (!isLoggedIn(record) || first === undefined) return undefined
  const { accountId } = record.user
  let token: string | undefined = first
  let renewal: Promise<string | undefined> | undefined
  return async (refused) => {
    const hasExpired = record.accessUntil !== undefined && record.accessUntil <= ctx.site.now()
    const useless = refused ?? (hasExpired ? first : undefined)
    if (token !== undefined && token !== useless) return token
    renewal ??= renew(ctx, accountId, token ?? first).finally(() => {
      renewal = undefined
    }) // parallel calls share one renewal
    token = await renewal
    return token
  }
}

/** @returns a new token of the same account. `undefined` if none is available now */
function renew(ctx: Context, accountId: string, refused: string): Promise<string | undefined> {
  return unlessUnavailable(() => askForToken(ctx, accountId, refused)).then((token) => {
    if (token === 'unavailable') throw unavailable('the session store does not answer')
    return token
  })
}

const unavailable = (why: string) => new Sso2UnavailableError('sessionstatus', true, `no new access token: ${why}`)

async function askForToken(ctx: Context, accountId: string, refused: string): Promise<string | undefined> {
  const { site, session } = ctx
  await ctx.reread()
  const known = newToken(ctx, accountId, refused)
  if (known !== undefined || session.key === undefined) return known
  if (!(await site.locks.takeRenewal(session.key, RENEW_EVERY_SECONDS))) return waitForRenewal(ctx, accountId, refused)
  await ctx.update({ accessRefused: true }) // so that the status check asks for a ticket
  const identity = await visit(ctx, { identify: 'never', isFresh: true })
  const { degraded } = identity === 'answered' ? { degraded: undefined } : identity
  if (degraded === 'store_unavailable') throw unavailable('the session store does not answer')
  if (degraded === 'sso_unavailable') throw unavailable('the SSO system does not answer')
  return newToken(ctx, accountId, refused)
}

async function waitForRenewal(ctx: Context, accountId: string, refused: string): Promise<string | undefined> {
  const since = ctx.record?.checkedAt
  for (const end = performance.now() + RENEWAL_MS; performance.now() < end; await sleep(POLL_MS)) {
    await ctx.reread()
    const token = newToken(ctx, accountId, refused)
    if (token !== undefined || !isLoggedIn(ctx.record) || ctx.record.checkedAt !== since) return token
  }
  return undefined
}

function newToken(ctx: Context, accountId: string, refused: string): string | undefined {
  const token = tokenOf(ctx, ctx.record, accountId)
  return token === refused ? undefined : token
}

/** A call for one account never uses the token of another. */
const tokenOf = ({ site }: Context, record: SsoRecord | undefined, accountId: string): string | undefined =>
  isLoggedIn(record) && record.user.accountId === accountId ? site.records.open(record)?.accessToken : undefined
