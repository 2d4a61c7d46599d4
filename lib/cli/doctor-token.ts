/** Sends a made-up ticket to the token endpoint. If the endpoint refuses the ticket, the address and the client are right. */

import type { DoctorTarget } from '../doctor-target'
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { isObject } from '../protocol/json'
import { type Answer, sendCall } from '../remote/http'
import { type TokenEndpoint, ticketCall } from '../remote/ticket'
import { about, errorCode, type Finding, ofFailedCall } from './doctor-finding'

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
    const isKnown = error instanceof Sso2UnavailableError || error instanceof Sso2ResponseError
    const why = isKnown ? error.message.replace(/^token: /, '') : 'failed'
    return ofFailedCall(error, endpoint.tokenUrl, wrong(`POST ${endpoint.tokenUrl}: ${why}`, ADDRESS))
  }
}

/** Returns the address and the client for a ticket exchange. */
export function doctorTokenEndpoint({ config, ticketExchange }: DoctorTarget): TokenEndpoint {
  const { tokenUrl = '', clientId, clientSecrets } = config
  return { tokenUrl, clientId, clientSecret: () => clientSecrets()[0] ?? '', ticketExchange }
}

const ADDRESS = 'tokenUrl (SSO2_TOKEN_URL): the access token endpoint of the authorization server, path included'

/** Statuses of an address without an endpoint, or without one for POST. */
const NO_ENDPOINT = new Set([404, 405, 410, 501])

function tokenResponseFinding(endpoint: TokenEndpoint, answer: Answer): Finding {
  const { status, headers } = answer
  const says = `POST ${endpoint.tokenUrl} answers HTTP ${status}`
  if (NO_ENDPOINT.has(status)) {
    const isEmulator = headers.has('x-sso2-emulator')
    const its = `SSO2_TOKEN_URL=${new URL(endpoint.tokenUrl).origin}/oauth/token   is the emulator's`
    return wrong(`${says}: no token endpoint is there`, isEmulator ? its : ADDRESS)
  }
  if (status >= 500) return wrong(`${says}: it is broken, or away`)
  if (status === 429) return note(`${says}: it asks for patience, so that it cannot be examined now`)
  const body = jsonOf(answer)
  if (status < 400)
    return body && 'access_token' in body
      ? wrong(`${says} and gives an access token for a ticket that nobody issued`)
      : wrong(`${says} and no refusal: this is some page, and no token endpoint`, ADDRESS)
  return judgeRefusal(endpoint, says, typeof body?.['error'] === 'string' ? body['error'] : undefined)
}

/** Judges an error of RFC 6749, section 5.2. */
function judgeRefusal({ clientId, ticketExchange }: TokenEndpoint, says: string, error: string | undefined): Finding {
  switch (error) {
    case 'invalid_grant':
      return ok(`${says} and refuses a made-up ticket, as it should (invalid_grant)`)
    case 'invalid_client':
    case 'unauthorized_client': {
      const other = ticketExchange.clientAuth === 'basic' ? 'post' : 'basic'
      return wrong(
        `${says}: it does not take the client ID and secret (${error})`,
        `clientId, clientSecret: those of the API client "${clientId}"   or sso2({ ticketExchange: { clientAuth: '${other}' } })`,
      )
    }
    case 'unsupported_grant_type':
      return wrong(
        `${says}: it knows no such grant type (${error})`,
        "sso2({ ticketExchange: { grantType: '…' } })   as the authorization server calls it",
      )
    case 'invalid_request':
      return wrong(
        `${says}: it misses something in the request (${error})`,
        "sso2({ ticketExchange: { ticketParameter: '…' } })   as the authorization server calls it",
      )
    default:
      return note(
        `${says} without saying what it refuses${error && /^\w{1,40}$/.test(error) ? ` (${error})` : ''}: the ticket, it is hoped`,
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
    return wrong('exchangeTicket of the site gives an access token for a ticket that nobody issued')
  } catch (error) {
    const code = errorCode(error)
    return /^E[A-Z]+_?[A-Z]*$/.test(code) && !code.startsWith('ERR_')
      ? wrong(`exchangeTicket of the site reaches nobody: ${code}`)
      : note(`exchangeTicket of the site refuses a made-up ticket (${code}); whether a real one works, a login shows`)
  }
}
