/** What one site speaks to other systems with, made of its configuration. */
import type { Config } from '../config'
import { FrontChannel } from './front-channel'
import { PlatformApi, scopes } from './platform-api'
import { serviceTokenSource } from './service-token'
import { Sso2Client } from './sso2'
import { readGrant, serviceToken, type TicketExchange, type TokenEndpoint } from './ticket'

/** The client of the SSO system; what fails is told to the operator. */
export function makeClient(config: Config): Sso2Client {
  const { ssoUrl, clientId, organisationId, ssoIdentifier, timeoutMs, clockToleranceSeconds, clock, log } = config
  const clientSecret = config.clientSecrets()
  return new Sso2Client({
    ssoUrl,
    clientId,
    clientSecret,
    organisationId,
    ssoIdentifier,
    timeoutMs,
    clockToleranceSeconds,
    clock,
    watch: {
      failed: (step, error) => log.failed('sso', { step, error, isOwn: false }),
      back: () => log.over('sso', 'the SSO system answers again'),
    },
  })
}

/** The way through Identify. */
export function makeFront({ siteUrl, routes, log }: Config, client: Sso2Client): FrontChannel {
  const landingUrl = routes.landing ? `${siteUrl}${routes.landing}` : undefined
  return new FrontChannel(client, { siteUrl, landingUrl, log })
}

/** The authorization server; it is shown the secret that the SSO system takes. */
export function endpointOf(config: Config, client: Sso2Client, ticketExchange: TicketExchange = {}): TokenEndpoint {
  const clientSecret = () => config.clientSecrets()[client.secretInUse] ?? ''
  return { tokenUrl: config.tokenUrl ?? '', clientId: config.clientId, clientSecret, ticketExchange }
}

/** The REST API with a token of the client itself. */
export function serviceApi({ apiUrl, clock }: Config, endpoint: TokenEndpoint): PlatformApi {
  const now = () => Math.floor(clock.now() / 1000)
  const fetchGrant = async () => readGrant(await serviceToken(endpoint, scopes.marketplaceGroups), now())
  return new PlatformApi({ apiUrl, accessToken: serviceTokenSource(fetchGrant, now) })
}
