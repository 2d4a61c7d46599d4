/** Checks client ID, secret and clock: asks the SSO system for the status of a session that does not exist. */
import type { Config } from '../config'
import { TokenError } from '../errors'
import { operationUrl } from '../protocol/requests'
import type { Sso2Client } from '../remote/sso2-client'
import { about, callFailure, emulatorHelp, type Finding, ofFailedCall } from './doctor-finding'

const NTP = 'sudo timedatectl set-ntp true   or chronyc makestep, on the machine whose clock is wrong'

/**
 * Calls Session Status and judges the response.
 * @param sid a made-up session ID
 */
export async function clientFinding(config: Config, client: Sso2Client, sid: string): Promise<Finding> {
  const { ok, wrong } = about('client')
  try {
    const { err } = await client.sessionStatus({ sid, lks: 'anon', ipa: '127.0.0.1', uas: 'express-sso2 doctor' })
    if (err === 'session_not_found') return ok(`the SSO system accepts the client ID ${config.clientId} and its secret`)
    if (err === 'invalid_token') return refusedTokenFinding(config, Number(client.clockOffsetSeconds))
    return wrong(`an unexpected answer about a session that does not exist: ${err ?? 'no error'}`)
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
function refusedTokenFinding({ organisationId }: Pick<Config, 'organisationId'>, offset: number): Finding {
  const { wrong } = about('client')
  const clock = offset === 1 ? ", or this machine's clock, which may be a second ahead" : ''
  return offset > 1
    ? wrong(
        `the SSO system refuses the token of the doctor (invalid_token): this machine's clock is ${offset} s ahead`,
        NTP,
      )
    : wrong(
        `the SSO system refuses the token of the doctor (invalid_token). The secret is right. Check the organisation "${organisationId}"${clock}`,
        'set organisationId (SSO2_ORGANISATION_ID) to the organisation ID in the admin portal',
      )
}

/** Explains why the token in the response is refused. */
function refusedAnswer({ clientId, ssoIdentifier }: Config, { reason }: TokenError): Finding {
  const { note, wrong } = about('client')
  switch (reason) {
    case 'signature':
      return wrong(
        'the answer of the SSO system is signed with another secret (signature)',
        `set clientSecret (SSO2_CLIENT_SECRET) to the secret of the API client "${clientId}" in the admin portal`,
      )
    case 'issuer':
      return wrong(
        `the answer of the SSO system has another issuer than "${ssoIdentifier}" (issuer)`,
        'set ssoIdentifier (SSO2_IDENTIFIER) to the issuer of the SSO system. The platform team knows it',
      )
    case 'audience':
      return wrong(
        'the answer of the SSO system is for another client ID (audience)',
        'set clientId (SSO2_CLIENT_ID) to the API client of this site in the admin portal',
      )
    case 'expired':
    case 'not_yet_valid':
      return note(
        `the answer of the SSO system has the right signature, but the clocks differ too much for more checks (${reason})`,
        'see clock',
      )
    default:
      return wrong(`the doctor refuses the answer of the SSO system (${reason})`)
  }
}

function noToken({ ssoUrl, clientId }: Config, error: unknown): Finding {
  const { wrong } = about('client')
  const url = operationUrl(ssoUrl, 'sessionstatus')
  const { httpStatus, timedOut } = Object(error)
  const says = `no token from POST ${url}: ${callFailure(error)}`
  const emulator = emulatorHelp(error)
  if (emulator !== undefined) return wrong(says, emulator)
  if (httpStatus === 400 || httpStatus === 401 || httpStatus === 403)
    return wrong(
      `${says}: the API client "${clientId}" does not exist, or it may not use SSO2`,
      'set clientId (SSO2_CLIENT_ID) to the API client of this site in the admin portal, and turn its SSO2 flag on',
    )
  if (timedOut || httpStatus >= 500)
    return wrong(says, 'the SSO system is slow or down: try again, then tell the platform team')
  return wrong(
    says,
    'check ssoUrl (SSO2_URL): the base address of the SSO system, without /identify and /sessionstatus',
  )
}

/**
 * Judges the machine's clock.
 * @param offset this machine's clock minus the SSO system's, in seconds, or undefined without a signed response
 */
export function ssoClockFinding({ clockToleranceSeconds }: Config, offset: number | undefined): Finding {
  const { ok, note, wrong } = about('clock')
  if (offset === undefined) return note('unknown, because the SSO system sent no signed answer')
  if (Math.abs(offset) <= 1) return ok('within 1 s of the SSO system')
  const says = `this machine is ${Math.abs(offset)} s ${offset < 0 ? 'behind' : 'ahead of'} the SSO system`
  return Math.abs(offset) > clockToleranceSeconds ? wrong(says, NTP) : note(says, NTP)
}
