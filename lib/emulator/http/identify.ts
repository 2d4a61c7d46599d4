/** Reads and carries out Identify requests. Interface: "Identify: browser redirect". */

import type { FaultOptions } from '../faults/rules'
import { claimsForLog } from '../platform/calls'
import { contentOfRefusal, identify, type TokenContent } from '../platform/service'
import { sessionOfBrowser } from '../platform/sessions'
import { answerForLog } from '../platform/traces'
import type { Runtime } from '../runtime'
import { type Answer, htmlError, type Work } from './answers'
import { type AcceptedRequest, readRequestToken } from './request-token'
import { sessionToken } from './session-token'

/** The emulator's own cookie, with a random value that identifies the browser. */
export const BROWSER_COOKIE = 'sso2emu'

/** The browser's Identify request. */
export interface IdentifyRequest {
  /** Query as received, without the question mark. */
  readonly query: string
  /** Value of the emulator's cookie. */
  readonly browser: string | undefined
}

/** Reads an Identify request. */
export function identifyWork(runtime: Runtime, { query, browser }: IdentifyRequest): Work {
  const parameters = readQuery(query)
  const session = sessionOfBrowser(runtime.world, browser, runtime.now())
  const nobody = { operation: 'identify', clientId: null, sid: session?.sid ?? null, claims: {} } as const
  const request =
    parameters && readRequestToken(runtime.world, 'identify', parameters.get('t') ?? '', runtime.tokenNow())
  if (!request) return failingWork(nobody, 'bad_request', 'The query can not be read, or names a parameter twice.')
  const known = {
    ...nobody,
    clientId: request.client?.client.clientId ?? null,
    claims: claimsForLog(request.claims),
  }
  if (!request.ok) return failingWork(known, 'invalid_token', `The request token t is not valid: ${request.reason}.`)
  const addresses = readAddresses(runtime, request, parameters)
  if (typeof addresses === 'string') return failingWork(known, 'bad_request', addresses)
  return {
    ...known,
    respond: (fault) => redirectAnswer(runtime, request, browser, addresses, fault),
    garbage: () => ({ ...toLanding(addresses, 'garbage.in.transit'), outcome: 'garbage' }),
  }
}

function failingWork(call: Omit<Work, 'respond' | 'garbage'>, code: string, message: string): Work {
  const answer = () => htmlError(400, code, message)
  return { ...call, respond: answer, garbage: answer }
}

/**
 * Decodes the parameters strictly.
 * @returns undefined for a wrong encoding or a repeated parameter
 */
function readQuery(query: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>()
  try {
    for (const part of query.split('&').filter((text) => text !== '')) {
      const key = decodeURIComponent(part.replace(/=.*/s, ''))
      if (parameters.has(key)) return undefined
      parameters.set(key, decodeURIComponent(part.replace(/^[^=]*=?/, '').replaceAll('+', ' ')))
    }
    return parameters
  } catch {
    return undefined
  }
}

interface Addresses {
  readonly landing: string
  readonly returnTo: string
}

/** Returns the addresses of the redirect, or a text with the reason for a refusal. */
function readAddresses(
  { config }: Runtime,
  { client }: AcceptedRequest,
  parameters: ReadonlyMap<string, string>,
): Addresses | string {
  const returnTo = parameters.get('r')
  if (returnTo === undefined || !isWebAddress(returnTo))
    return 'The return address r must be an absolute http(s) address.'
  const debugUrl = parameters.get('debug_url')
  if (debugUrl === undefined) return { landing: client.client.landingPage, returnTo }
  if (config.production) return 'debug_url is not available in production.'
  if (!isWebAddress(debugUrl)) return 'debug_url must be an absolute http(s) address.'
  return { landing: new URL(debugUrl).href, returnTo } // as browsers write it: a header takes ASCII only
}

function isWebAddress(address: string): boolean {
  return /^https?:\/\//i.test(address) && URL.canParse(address)
}

function redirectAnswer(
  runtime: Runtime,
  { client }: AcceptedRequest,
  browser: string | undefined,
  addresses: Addresses,
  fault: FaultOptions | undefined,
): Answer {
  const { world } = runtime
  if (fault?.kind === 'error') {
    const sid = sessionOfBrowser(world, browser, runtime.now())?.sid ?? null
    return land(contentOfRefusal('identify', sid, fault.code), {})
  }
  const { session, outcome } = identify(world, client.client.clientId, browser, runtime.now())
  const isNew = session.browser !== browser
  return land(outcome, isNew ? { 'set-cookie': cookie(session.browser) } : {})

  function land(result: TokenContent, headers: Record<string, string>): Answer {
    const token = sessionToken(world, client, result, runtime.tokenNow(), fault)
    const answer = toLanding(addresses, token)
    const { sid } = { sid: null, ...result.subject }
    return {
      ...answer,
      headers: { ...answer.headers, ...headers },
      outcome: result.err ?? result.sts,
      claims: answerForLog(token),
      ...(sid === null ? {} : { sid }),
    }
  }
}

function cookie(value: string): string {
  return `${BROWSER_COOKIE}=${value}; Path=/sso; HttpOnly; SameSite=Lax`
}

/** Redirects to the landing page. Adds `t` and `r` to its query, before a fragment. */
function toLanding({ landing, returnTo }: Addresses, token: string): Answer {
  const page = landing.replace(/#.*/s, '')
  const separator = page.includes('?') ? '&' : '?'
  const headers = {
    location: `${page}${separator}t=${token}&r=${encodeURIComponent(returnTo)}${landing.slice(page.length)}`,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  }
  return { status: 302, headers, body: '', outcome: '' }
}
