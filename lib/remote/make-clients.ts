/**
 * Makes the clients and health watchers of a site from the configuration.
 * The folder calls the SSO system, the authorization server and the REST API. The folder decides nothing about a request (lib/decide), and
 * knows nothing of Express (lib/web).
 * SSO system: sso2.ts. Tickets: ticket.ts. REST API: platform-api.ts. Circuit breakers: dependency.ts. HTTP: http.ts.
 */
import { randomUUID } from 'node:crypto'
import type { Config } from '../config'
import { RECOVERIES } from '../decide/log-lines'
import { Sso2ConfigError } from '../errors'
import { Dependency, isOutage } from './dependency'
import { IdentifyHealth } from './identify-health'
import { PlatformApi, ServiceApi, scopes } from './platform-api'
import { Sso2Client } from './sso2'
import {
  isTokenEndpointFault,
  probeTokenEndpoint,
  readGrant,
  serviceToken,
  serviceTokenSource,
  type TicketExchange,
  type TokenEndpoint,
} from './ticket'

/** Makes the client of the SSO system, whose failures are logged. */
export function makeClient(config: Config): Sso2Client {
  const { log } = config
  return new Sso2Client({
    ...config,
    clientSecret: config.clientSecrets(),
    watch: {
      failed: (step, error, beganAt) => log.failed('sso', { step, error, isHookOfSite: false, beganAt }),
      back: () => log.over('sso', RECOVERIES.sso),
    },
  })
}

/** Makes the health watcher of Identify. */
export function makeIdentifyHealth({ siteUrl, routes, log, clock }: Config, client: Sso2Client): IdentifyHealth {
  const landingUrl = routes.landing ? `${siteUrl}${routes.landing}` : undefined
  return new IdentifyHealth(client, { siteUrl, landingUrl, log, now: () => Math.floor(clock.now() / 1000) })
}

/** Returns the token endpoint. The client authenticates with the secret that the SSO system uses. */
export function makeTokenEndpoint(
  config: Config,
  client: Sso2Client,
  ticketExchange: TicketExchange = {},
): TokenEndpoint {
  const clientSecret = () => config.clientSecrets()[client.secretInUse] ?? ''
  return { tokenUrl: config.tokenUrl ?? '', clientId: config.clientId, clientSecret, ticketExchange }
}

/** Systems that a login needs after the SSO system has accepted it. `undefined` if a hook of the site replaces the call. */
export interface LoginDependencies {
  readonly token: Dependency | undefined
  readonly user: Dependency | undefined
}

/** Watches the token endpoint and the user path. A hook of the site is not watched, because a probe would need a user's own ticket. */
export function makeLoginDependencies(
  config: Config,
  endpoint: TokenEndpoint,
  hooks: { readonly exchangeTicket?: unknown; readonly loadUser?: unknown },
): LoginDependencies {
  const { apiUrl, userPath, log } = config
  const watch = (step: 'exchangeTicket' | 'loadUser', isFault: IsFault, probe: () => Promise<unknown>) =>
    new Dependency({
      isFault,
      probe: () => {
        const beganAt = performance.now()
        return probe().catch((error: unknown) => {
          if (isFault(error)) log.failed(step, { step, error, isHookOfSite: false, beganAt })
          throw error
        })
      },
      onSuccess: (isBack) => {
        if (isBack) log.over(step, RECOVERIES[step])
      },
    })
  const probeToken = () => probeTokenEndpoint(endpoint)
  const probeUser = () => new PlatformApi({ apiUrl, accessToken: randomUUID() }).get(userPath)
  return {
    token: hooks.exchangeTicket ? undefined : watch('exchangeTicket', isTokenEndpointFault, probeToken),
    user: hooks.loadUser ? undefined : watch('loadUser', isOutage, probeUser),
  }
}

type IsFault = (error: unknown) => boolean

/** A site with its own `exchangeTicket` may omit `tokenUrl`, but the hook gets no tokens without a ticket. */
const NO_TOKEN_URL = {
  option: 'tokenUrl',
  variable: 'SSO2_TOKEN_URL',
  message:
    'is required for sso.api, which gets its tokens there. The hook exchangeTicket only exchanges tickets of users',
}

/**
 * Returns a REST API client with an access token of the site itself, without a user.
 * Its calls throw `Sso2ConfigError` if there is no `tokenUrl`.
 */
export function serviceApi({ apiUrl, clock, tokenUrl }: Config, endpoint: TokenEndpoint): PlatformApi {
  const now = () => Math.floor(clock.now() / 1000)
  const fetchGrant = async () => {
    if (tokenUrl === undefined) throw new Sso2ConfigError([NO_TOKEN_URL])
    return readGrant(await serviceToken(endpoint, scopes.marketplaceGroups), now())
  }
  return new ServiceApi({ apiUrl, accessToken: serviceTokenSource(fetchGrant, now) })
}
