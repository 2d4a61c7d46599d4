/** The access token of the user, for `req.sso2.api`. A status check renews a token that has expired, or that the REST API has refused. */
import { ageOf, isLoggedIn } from '../../decide/record'
import type { AccessTokenSource } from '../../remote/platform-api'
import type { Context } from '../context'
import { visit } from './visit'

/** No renewal follows a status check within this time. */
const RENEW_EVERY_SECONDS = 30

/** Returns the source of the access token of an account. The source has no token if another user is logged in. */
export function accessTokenOf(ctx: Context, accountId: string): AccessTokenSource {
  let renewal: Promise<void> | undefined
  return async (refused) => {
    const token = currentToken(ctx, accountId)
    if (token !== undefined && token !== refused) return token
    renewal ??= renew(ctx, accountId, token).finally(() => {
      renewal = undefined
    }) // parallel calls share one renewal
    await renewal
    return currentToken(ctx, accountId)
  }
}

function currentToken({ site, record }: Context, accountId: string): string | undefined {
  if (!isLoggedIn(record) || record.user.accountId !== accountId) return undefined
  const hasExpired = record.accessUntil !== undefined && record.accessUntil <= site.now()
  return hasExpired ? undefined : site.records.open(record)?.accessToken
}

async function renew(ctx: Context, accountId: string, useless: string | undefined): Promise<void> {
  await ctx.reread()
  const { record, site } = ctx
  if (!isLoggedIn(record) || record.user.accountId !== accountId) return
  if (currentToken(ctx, accountId) !== useless) return // another request has renewed the token
  await ctx.update({ accessUntil: 0 }) // so that the next status check asks for a ticket
  if (ageOf(record.checkedAt, site.now()) >= RENEW_EVERY_SECONDS) await visit(ctx, { identify: 'never', isFresh: true })
}
