/** Client ID, secret and clock: the SSO system is asked about a session that nobody has. */
import type { Config } from '../config'
import { Sso2UnavailableError, TokenError } from '../errors'
import { Sso2Client } from '../remote/sso2'
import { about, type Finding } from './doctor-finding'

/** @param sid a made-up session ID */
export async function* ssoFindings(config: Config, sid: string): AsyncGenerator<Finding> {
  const { ssoUrl, clientId, organisationId, ssoIdentifier, timeoutMs, clockToleranceSeconds, clock } = config
  const clientSecret = config.clientSecrets()
  const options = { ssoUrl, clientId, organisationId, ssoIdentifier, timeoutMs, clockToleranceSeconds, clock }
  const client = new Sso2Client({ ...options, clientSecret })
  try {
    yield await ask(client, sid)
    yield clockFinding(client.clockOffsetSeconds, clockToleranceSeconds)
  } finally {
    client.close()
  }
}

async function ask(client: Sso2Client, sid: string): Promise<Finding> {
  const { ok, wrong } = about('client')
  try {
    const { err } = await client.sessionStatus({ sid, lks: 'anon', ipa: '127.0.0.1', uas: 'express-sso2 doctor' })
    if (err === 'session_not_found') return ok('the SSO system knows the client ID and takes its secret')
    if (err === 'invalid_token')
      return wrong('the SSO system refuses our token: client ID, client secret, organisation ID, or the clock')
    return wrong(`an unexpected answer about a session that nobody has: ${err ?? 'no error'}`)
  } catch (error) {
    if (error instanceof TokenError)
      return wrong(`${REFUSED[error.reason] ?? 'its answer is refused'} (${error.reason})`)
    const why = error instanceof Sso2UnavailableError ? 'no answer' : 'an answer that the interface does not document'
    return wrong(`${why} from POST sessionstatus below ssoUrl`)
  }
}

const REFUSED: Readonly<Record<string, string>> = {
  signature: 'its answer is signed with another secret',
  issuer: 'its answer has another issuer than ssoIdentifier',
  audience: 'its answer is for another client ID',
  expired: 'its answer has expired on arrival: our clock is ahead',
  not_yet_valid: 'its answer is not valid yet: our clock is behind',
}

function clockFinding(offset: number | undefined, tolerance: number): Finding {
  const { ok, note, wrong } = about('clock')
  if (offset === undefined) return note('unknown: no signed answer came')
  if (Math.abs(offset) <= 1) return ok("that of the SSO system's, within a second")
  const says = `${Math.abs(offset)} s ${offset < 0 ? 'behind' : 'ahead of'} the SSO system's`
  return Math.abs(offset) > tolerance ? wrong(`${says}; set this machine by NTP`) : note(says)
}
