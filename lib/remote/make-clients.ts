/**
 * Makes the clients of a site from the configuration.
 * The folder calls the SSO system, the authorization server and the REST API. The folder decides nothing about a request (lib/decide), and
 * knows nothing of Express (lib/web).
 * SSO system: sso2.ts. Tickets: ticket.ts. REST API: platform-api.ts. Circuit breaker: breaker.ts, identify-health.ts. HTTP: http.ts.
 */
import type { Config } from '../config'
import { Sso2ConfigError } from '../errors'
import { IdentifyHealth } from './identify-health'
import { type PlatformApi, ServiceApi, scopes } from './platform-api'
import { Sso2Client } from './sso2'
import { readGrant, serviceToken, serviceTokenSource, type TicketExchange, type TokenEndpoint } from './ticket'

/** Makes the client of the SSO system, whose failures are logged. */
export function makeClient(config: Config): Sso2Client {
  const { log } = config
  return new Sso2Client({
    ...config,
    clientSecret: config.clientSecrets(),
    watch: {
      failed: (step, error) => log.failed('sso', { step, error, isHookOfSite: false }),
      succeeded: () => log.recovered('sso', 'The SSO system responds again.'),
    },
  })
}

/** Makes the health watcher of Identify. */
export function makeIdentifyHealth(config: Config, client: Sso2Client): IdentifyHealth {
  const { siteUrl, routes } = config
  const landingUrl = routes.landing ? `${siteUrl}${routes.landing}` : undefined
  return new IdentifyHealth(client, { ...config, landingUrl })
}

/** Returns the token endpoint. The client authenticates with the secret that the SSO system uses. */
export function makeTokenEndpoint(
  config: Config,
  client: Sso2Client,
  ticketExchange: TicketExchange = {},
): TokenEndpoint {
  const clientSecret = () => config.clientSecrets()[client.secretInUse] ?? ''
  const { tokenUrl = '', clientId, agent } = config
  return { tokenUrl, clientId, clientSecret, ticketExchange, agent }
}

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
export function serviceApi({ apiUrl, clock, tokenUrl, agent }: Config, endpoint: TokenEndpoint): PlatformApi {
  const now = () => Math.floor(clock.now() / 1000)
  const fetchGrant = async () => {
    if (tokenUrl === undefined) throw new Sso2ConfigError([NO_TOKEN_URL])
    return readGrant(await serviceToken(endpoint, scopes.marketplaceGroups), now())
  }
  return new ServiceApi({ apiUrl, agent, accessToken: serviceTokenSource(fetchGrant, now) })
}
