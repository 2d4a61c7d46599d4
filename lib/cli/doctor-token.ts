/** Sends a made-up ticket to the token endpoint. If the endpoint refuses the ticket, the address and the client are right. */

import type { DoctorTarget } from '../doctor-target'
import { isObject } from '../protocol/json'
import { type Answer, sendCall } from '../remote/http'
import { type TokenEndpoint, ticketCall } from '../remote/token-endpoint'
import { about, callFailure, emulatorHelp, errorCode, type Finding, ofFailedCall } from './doctor-finding'

const { ok, note, wrong } = about('token endpoint')

/**
 * Checks the token endpoint.
 * @param ticket a random value that the platform has not issued
 */
export async function tokenFinding(site: DoctorTarget, ticket: string): Promise<Finding> {
  if (site.exchangeTicket) return askHook(site.exchangeTicket, ticket)
  const endpoint = doctorTokenEndpoint(site)
  try {
    return tokenResponseFinding(endpoint, await sendCall(ticketCall(endpoint, ticket)))
  } catch (error) {
    const { tokenUrl } = endpoint
    const says = `POST ${tokenUrl}: ${callFailure(error)}`
    return ofFailedCall(error, tokenUrl, wrong(says, emulatorHelp(error) ?? ADDRESS))
  }
}

/** Returns the address and the client for a ticket exchange. */
export function doctorTokenEndpoint({ config, ticketExchange }: DoctorTarget): TokenEndpoint {
  const { tokenUrl = '', clientId, clientSecrets, agent } = config
  return { tokenUrl, clientId, clientSecret: () => String(clientSecrets()[0]), ticketExchange, agent }
}

const ADDRESS = 'check tokenUrl (SSO2_TOKEN_URL): the address of the token endpoint, with its path'

/** Statuses of an address without an endpoint, or without one for POST. */
const NO_ENDPOINT = new Set([404, 405, 410, 501])

function tokenResponseFinding(endpoint: TokenEndpoint, answer: Answer): Finding {
  const { status, headers } = answer
  const says = `POST ${endpoint.tokenUrl} answers HTTP ${status}`
  if (NO_ENDPOINT.has(status)) {
    const isEmulator = headers['x-sso2-emulator'] !== undefined
    const its = `SSO2_TOKEN_URL=${new URL(endpoint.tokenUrl).origin}/oauth/token   for the emulator`
    return wrong(`${says}: there is no token endpoint at this address`, isEmulator ? its : ADDRESS)
  }
  if (status >= 500) return wrong(`${says}: the token endpoint fails`)
  if (status === 429) return note(`${says}: the token endpoint limits requests. Run the doctor again later`)
  const body = jsonOf(answer)
  if (status < 400)
    return body && 'access_token' in body
      ? wrong(`${says} and issues an access token for a made-up ticket`)
      : wrong(`${says} to a made-up ticket: this is not a token endpoint`, ADDRESS)
  return judgeRefusal(endpoint, says, typeof body?.['error'] === 'string' ? body['error'] : undefined)
}

/** Judges an error of RFC 6749, section 5.2. */
function judgeRefusal({ clientId, ticketExchange }: TokenEndpoint, says: string, error: string | undefined): Finding {
  switch (error) {
    case 'invalid_grant':
      return ok(`${says} to a made-up ticket, as expected (invalid_grant)`)
    case 'invalid_client':
    case 'unauthorized_client': {
      const other = ticketExchange.clientAuth === 'basic' ? 'post' : 'basic'
      return wrong(
        `${says}: the token endpoint refuses the client ID or secret (${error})`,
        `check clientId and clientSecret of the API client "${clientId}"   or sso2({ ticketExchange: { clientAuth: '${other}' } })`,
      )
    }
    case 'unsupported_grant_type':
      return wrong(
        `${says}: the token endpoint does not support the grant type (${error})`,
        "sso2({ ticketExchange: { grantType: '…' } })   with the name that the token endpoint uses",
      )
    case 'invalid_request':
      return wrong(
        `${says}: the token endpoint misses a parameter (${error})`,
        "sso2({ ticketExchange: { ticketParameter: '…' } })   with the name that the token endpoint uses",
      )
    default:
      return note(
        `${says} without a known error code${error && /^\w{1,40}$/.test(error) ? ` (${error})` : ''}. A login shows whether real tickets work`,
      )
  }
}

function jsonOf({ text }: Answer): Readonly<Record<string, unknown>> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return isObject(body) ? body : undefined
  } catch {
    return undefined
  }
}

/** Calls the site's own `exchangeTicket`, which has to refuse the ticket too. Only the site knows the address and the protocol. */
async function askHook(exchange: NonNullable<DoctorTarget['exchangeTicket']>, ticket: string): Promise<Finding> {
  try {
    await exchange(ticket, { sid: 'express-sso2-doctor', signal: AbortSignal.timeout(8000) })
    return wrong('exchangeTicket of the site returns an access token for a made-up ticket')
  } catch (error) {
    const code = errorCode(error)
    return /^E(?!RR_)[A-Z]+_?[A-Z]*$/.test(code)
      ? wrong(`exchangeTicket of the site cannot connect: ${code}`)
      : note(`exchangeTicket of the site refuses a made-up ticket (${code}). A login shows whether real tickets work`)
  }
}
