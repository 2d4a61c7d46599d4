/** Exchanges a ticket for an access token, and loads the user with it. Begins no session. Interface: "SSO2", point 3. */
import type { User } from '../../decide/record'
import { Sso2ResponseError } from '../../errors'
import { isObject, parseForeignJson } from '../../protocol/json'
import type { TicketToken } from '../../protocol/session-token'
import { ownValue } from '../../protocol/token'
import { PlatformApi } from '../../remote/platform-api'
import { readGrant } from '../../remote/token-endpoint'
import type { Secrets } from '../../storage/records'
import { HOOKS_MS, runHook } from '../hooks'
import type { LoadUser, Site } from '../site'

/** A user, and the secrets of the login. */
export interface LoadedUser {
  readonly user: User
  readonly secrets: Secrets
  /** Expiry of the access token in seconds since 1970, if the authorization server sent one. */
  readonly accessUntil: number | undefined
}

/** Exchanges a ticket, and loads its user. @returns `undefined` if the exchange, the REST API or a hook of the site failed. A log line names the step and the cause */
export async function userOfTicket(site: Site, { sid, at }: TicketToken): Promise<LoadedUser | undefined> {
  const { config } = site
  let step: 'exchangeTicket' | 'loadUser' = 'exchangeTicket'
  let accessToken: string | undefined
  try {
    const signal = AbortSignal.timeout(HOOKS_MS)
    const exchanged = await runHook('exchangeTicket', async () => site.exchange(at, { sid, signal }), signal)
    const grant = readGrant(exchanged, site.now())
    step = 'loadUser'
    accessToken = grant.token
    const api = new PlatformApi({ apiUrl: config.apiUrl, agent: config.agent, accessToken })
    const loadUserContext = { accessToken, api, sid }
    const user = readUser(await runHook('loadUser', async () => site.loadUser(loadUserContext), signal))
    if (site.loginHealth.noteSuccess()) {
      config.log.recovered('exchangeTicket', 'The token endpoint works again.')
      config.log.recovered('loadUser', 'The user path works again.')
    }
    return { user, secrets: { sid, accessToken }, accessUntil: grant.expiresAt }
  } catch (error) {
    site.loginHealth.noteFailure(error)
    config.log.failed(step, error, { secrets: [at, sid, accessToken] })
    return undefined
  }
}

/** Reads a user: JSON with at least `accountId`. @throws {Sso2ResponseError} with the name of the wrong field */
function readUser(value: unknown): User {
  const user: unknown = value === undefined ? undefined : parseForeignJson(JSON.stringify(value))
  const accountId = isObject(user) ? ownValue(user, 'accountId') : undefined
  if (isObject(user) && typeof accountId === 'string' && accountId !== '') return { ...user, accountId }
  const found = accountId === '' ? 'an empty text' : typeof accountId
  throw new Sso2ResponseError('loadUser', undefined, `accountId: a text is required, not ${found}`)
}

/** The default `loadUser`: GET of `userPath`. Returns `item` of the response, or the body. `account_id` is also returned as `accountId`. */
export function defaultLoadUser(userPath: string): LoadUser {
  return async ({ api }) => {
    const body = await api.get(userPath)
    const item = ownValue(body, 'item')
    const fields = isObject(item) ? item : body
    const accountId = ownValue(fields, 'accountId') ?? ownValue(fields, 'account_id')
    return { ...fields, accountId } as User // checked by readUser
  }
}
