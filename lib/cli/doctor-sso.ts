/** Checks client ID, secret and clock: asks the SSO system for the status of a session that does not exist. */
import type { Config } from '../config'
import { Sso2ResponseError, Sso2UnavailableError, TokenError } from '../errors'
import { operationUrl } from '../protocol/requests'
import type { Sso2Client } from '../remote/sso2'
import { about, type Finding, ofFailedCall } from './doctor-finding'

const NTP = 'sudo timedatectl set-ntp true   (or chronyc makestep): set the clock of the machine that is wrong'

/**
 * Calls Session Status and judges the response.
 * @param sid a made-up session ID
 */
export async function clientFinding(config: Config, client: Sso2Client, sid: string): Promise<Finding> {
  const { ok, wrong } = about('client')
  try {
    const { err } = await client.sessionStatus({ sid, lks: 'anon', ipa: '127.0.0.1', uas: 'express-sso2 doctor' })
    if (err === 'session_not_found')
      return ok(`the SSO system knows the client ID ${config.clientId} and takes its secret`)
    if (err === 'invalid_token') return refusedTokenFinding(config, client.clockOffsetSeconds ?? 0)
    return wrong(`an unexpected answer about a session that nobody has: ${err ?? 'no error'}`)
  } catch (error) {
    if (error instanceof TokenError) return refusedAnswer(config, error)
    return ofFailedCall(error, config.ssoUrl, noToken(config, error))
  }
}

/**
 * Explains `invalid_token`. The response is signed with the right secret and has the right issuer and audience.
 * The cause is therefore the organisation, or a clock that is ahead.
 * @param offset this machine's clock minus the SSO system's, in seconds. A slow response can add a second.
 */
export function refusedTokenFinding({ organisationId }: Pick<Config, 'organisationId'>, offset: number): Finding {
  const { wrong } = about('client')
  const clock = offset === 1 ? " (or this machine's clock, which may be a second ahead)" : ''
  return offset > 1
    ? wrong(`the SSO system refuses our token (invalid_token): this machine's clock is ${offset} s ahead`, NTP)
    : wrong(
        `the SSO system refuses our token (invalid_token); its secret is right, so is it the organisation "${organisationId}"?${clock}`,
        'organisationId (SSO2_ORGANISATION_ID): the organisation ID that the admin portal shows',
      )
}

/** Explains why the token in the response is refused. */
function refusedAnswer({ clientId, ssoIdentifier }: Config, { reason }: TokenError): Finding {
  const { note, wrong } = about('client')
  switch (reason) {
    case 'signature':
      return wrong(
        'its answer is signed with another secret (signature)',
        `clientSecret (SSO2_CLIENT_SECRET): the secret of the API client "${clientId}" in the admin portal`,
      )
    case 'issuer':
      return wrong(
        `its answer has another issuer than "${ssoIdentifier}" (issuer)`,
        'ssoIdentifier (SSO2_IDENTIFIER): how the SSO system calls itself; its operator knows',
      )
    case 'audience':
      return wrong(
        'its answer is for another client ID (audience)',
        'clientId (SSO2_CLIENT_ID): the API client of this site in the admin portal',
      )
    case 'expired':
    case 'not_yet_valid':
      return note(`its answer is signed with our secret; the clocks differ too much to say more (${reason})`)
    default:
      return wrong(`its answer is refused (${reason})`)
  }
}

function noToken({ ssoUrl, clientId }: Config, error: unknown): Finding {
  const { wrong } = about('client')
  const url = operationUrl(ssoUrl, 'sessionstatus')
  const why = error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError ? error.message : 'failed'
  const status = error instanceof Sso2ResponseError ? error.status : undefined
  const says = `no token from POST ${url}: ${why.replace(/^sessionstatus: /, '')}`
  if (status === 400 || status === 401 || status === 403)
    return wrong(
      `${says}: it knows no API client "${clientId}", or the client is not flagged for SSO2`,
      'clientId (SSO2_CLIENT_ID): the API client of this site in the admin portal, with its SSO2 flag on',
    )
  return wrong(
    says,
    'ssoUrl (SSO2_URL): the base address of the SSO system, to which /identify and /sessionstatus are added',
  )
}

/**
 * Judges the machine's clock.
 * @param offset this machine's clock minus the SSO system's, in seconds, or undefined without a signed response
 */
export function ssoClockFinding({ clockToleranceSeconds }: Config, offset: number | undefined): Finding {
  const { ok, note, wrong } = about('clock')
  if (offset === undefined) return note('unknown: no signed answer came')
  if (Math.abs(offset) <= 1) return ok('within 1 s of the SSO system')
  const says = `this machine is ${Math.abs(offset)} s ${offset < 0 ? 'behind' : 'ahead of'} the SSO system`
  return Math.abs(offset) > clockToleranceSeconds ? wrong(says, NTP) : note(says, NTP)
}
