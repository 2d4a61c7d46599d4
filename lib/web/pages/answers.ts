/**
 * Sends the responses of the package's routes: pages with a Content-Security-Policy, or JSON.
 * The caller chooses page, status and text. This folder decides nothing about a login.
 * HTML of the built-in pages: views.ts. Style sheet and policy: style.ts. Texts: lib/config/texts.
 */
import { randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import { isTextCode } from '../../config/texts'
import type { TextCode } from '../../config/texts/en'
import { readerOf } from '../../decide/navigation'
import type { DegradedReason } from '../../decide/record'
import { runHook } from '../hooks'
import { setNoStore, setTokenHeaders } from '../http/response-headers'
import type { Site } from '../site'
import type { ProblemContext, ViewContexts } from './views'

/** Does a client of the login or logout route want JSON rather than a page or redirect? */
export function wantsJson(req: Request): boolean {
  return req.is('application/json') === 'application/json' || req.accepts(['html', 'json']) === 'json'
}

/** May a page of the site show the page in a frame? A form never, because another page could lie over its buttons. */
type Framing = 'DENY' | 'SAMEORIGIN'

/**
 * Sets the headers of a page. `same-origin` lets browsers without Fetch Metadata send `Origin` with a form (threat F14), also if the site has
 * set `no-referrer`, as helmet does. A page without a form keeps what is set: the landing page has set `no-referrer`.
 * @param policy `false`: the header that the site has set stays
 */
function setPageHeaders(res: Response, name: keyof ViewContexts, policy: string | false, framing: Framing): void {
  const framed = framing === 'DENY' ? "frame-ancestors 'none'" : "frame-ancestors 'self'"
  if (policy !== false) res.setHeader('content-security-policy', policy.replace("frame-ancestors 'none'", framed))
  setNoStore(res)
  if (name !== 'problem' || !res.hasHeader('referrer-policy')) res.setHeader('referrer-policy', 'same-origin')
  res.setHeader('x-content-type-options', 'nosniff')
  res.setHeader('x-frame-options', framing)
}

/** Sends a page, custom or built-in. A custom view or policy that throws or takes too long is an error of the site. */
export async function sendPage<Name extends keyof ViewContexts>(
  { views, builtIn, config: { contentSecurityPolicy } }: Site,
  res: Response,
  status: number,
  name: Name,
  values: Omit<ViewContexts[Name], 'nonce'>,
  framing: Framing = 'DENY',
): Promise<void> {
  const nonce = randomBytes(16).toString('base64url')
  const context = { ...values, nonce } as ViewContexts[Name]
  const customView = views[name]
  const make = async () => ({
    policy: typeof contentSecurityPolicy === 'function' ? await contentSecurityPolicy(nonce) : contentSecurityPolicy,
    text: await customView?.(context, res.req, res),
  })
  const { policy, text } = customView
    ? await runHook('views', make)
    : { policy: builtIn.policy, text: builtIn.views[name](context) }
  setPageHeaders(res, name, policy, framing)
  res.status(status).type('html').send(text)
}

/** Sends JSON that no cache keeps. */
export function sendJson(res: Response, status: number, body: object): void {
  setTokenHeaders(res)
  res.status(status).json(body)
}

/** Seconds after which the client should retry during an outage. */
const OUTAGE_SECONDS = 5

/** Sets Retry-After. @param seconds until the next try, if known */
export function setRetryAfter(res: Response, status: number, seconds?: number): void {
  const wait = seconds ?? (status === 503 ? OUTAGE_SECONDS : 0)
  if (wait > 0) res.setHeader('retry-after', String(wait))
}

/** Returns the text code for a degraded request. @param otherwise if the reason has no text */
export const reasonCode = (reason: DegradedReason, otherwise: TextCode): TextCode =>
  isTextCode(reason) ? reason : otherwise

type Addresses = Partial<Pick<ProblemContext, 'loginUrl' | 'otherAccountUrl'>>

/**
 * Refuses a request as its reader needs it: page or JSON. If the custom view fails, the built-in page is sent. Threat O17.
 * @param more `text`: of the page, default that of the code
 */
export async function sendProblem(
  site: Site,
  res: Response,
  status: number,
  code: TextCode,
  { text = code, loginUrl, otherAccountUrl }: Addresses & { readonly text?: TextCode } = {},
): Promise<void> {
  const { texts, siteUrl, log } = site.config
  setRetryAfter(res, status)
  const reader = readerOf(res.req)
  if (reader === 'script') return sendJson(res, status, { error: code, loginUrl })
  const canReload = status === 503 && (res.req.method === 'GET' || text === 'logout_unavailable') // its form has the same address
  const problem = { status, code, message: texts[text], homeUrl: `${siteUrl}/`, loginUrl, canReload, otherAccountUrl }
  const framing = reader === 'frame' ? 'SAMEORIGIN' : 'DENY'
  try {
    await sendPage(site, res, status, 'problem', problem, framing)
  } catch (error) {
    log.failed('views.problem', error)
    await sendPage({ ...site, views: {} }, res, status, 'problem', problem, framing)
  }
}
