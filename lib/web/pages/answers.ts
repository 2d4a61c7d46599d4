/**
 * Sends the responses of the package's routes: pages with a Content-Security-Policy, or JSON.
 * The caller chooses page, status and text. This folder decides nothing about a login.
 * HTML of the built-in pages: views.ts. Style sheet and policy: style.ts. Escaping: html.ts. Texts: lib/config/texts.
 */
import { randomBytes } from 'node:crypto'
import type { Request, Response } from 'express'
import { isPolicy } from '../../config/branding'
import { isTextCode } from '../../config/texts'
import type { TextCode } from '../../config/texts/en'
import type { DegradedReason } from '../../decide/identity'
import { acceptsHtml, readerOf } from '../../decide/navigation'
import type { User } from '../../decide/record'
import { HOOKS_MS, runHook } from '../hooks'
import { setNoStore, setTokenHeaders } from '../http/response-headers'
import type { Site, ViewContexts } from '../site'
import { localizedText } from './html'
import { fragment, logoutUrl } from './views'

/** Does a client of the login or logout route want JSON rather than a page or redirect? */
export function wantsJson(req: Request): boolean {
  return req.is('application/json') === 'application/json' || req.accepts(['html', 'json']) === 'json'
}

/**
 * Sets the headers of a page. `same-origin` lets browsers without Fetch Metadata send `Origin` with a form (threat F14), also if the site has
 * set `no-referrer`, as helmet does. A page without a form keeps what is set: the landing page has set `no-referrer`.
 * @param policy default: the header that the site has set stays
 */
function setPageHeaders(res: Response, name: keyof ViewContexts, policy: string | undefined, framing: Framing): void {
  setNoStore(res)
  if (name !== 'problem' || !res.hasHeader('referrer-policy')) res.setHeader('referrer-policy', 'same-origin')
  if (policy !== undefined) res.setHeader('content-security-policy', framing === 'DENY' ? policy : framed(policy))
  res.setHeader('x-content-type-options', 'nosniff')
  res.setHeader('x-frame-options', framing)
}

/** May a page of the site show the page in a frame? A form never, because another page could lie over its buttons. */
type Framing = 'DENY' | 'SAMEORIGIN'
const framed = (policy: string) => policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'")

/** Returns the policy of custom views. @throws {TypeError} if the site's function returned no policy */
async function viewPolicy({ config: { contentSecurityPolicy } }: Site, nonce: string): Promise<string | undefined> {
  if (contentSecurityPolicy === false) return undefined
  // awaited, so that a function that is asynchronous by mistake ends no process
  const policy: unknown =
    typeof contentSecurityPolicy === 'function' ? await contentSecurityPolicy(nonce) : contentSecurityPolicy
  if (!isPolicy(policy))
    throw new TypeError(
      'express-sso2: Option contentSecurityPolicy must return a policy in one line. See "TypeError" in docs/troubleshooting.md.',
    )
  return policy
}

type ViewContext<Name extends keyof ViewContexts> = Omit<ViewContexts[Name], 'nonce'>

/** Sends a page, custom or built-in. A custom view that throws or takes too long is an error of the site. */
export async function sendPage<Name extends keyof ViewContexts>(
  site: Site,
  res: Response,
  status: number,
  name: Name,
  values: ViewContext<Name>,
  framing: Framing = 'DENY',
): Promise<void> {
  const customView = site.views[name]
  if (!customView) return sendBuiltIn(site, res, status, name, values, framing)
  const nonce = randomBytes(16).toString('base64url')
  const context = { ...values, nonce } as ViewContexts[Name]
  const make = async () => [await viewPolicy(site, nonce), await customView(context, res.req, res)] as const
  const [policy, text] = await runHook('views', AbortSignal.timeout(HOOKS_MS), make)
  setPageHeaders(res, name, policy, framing)
  res.status(status).type('html').send(text)
}

/** Sends a built-in page. The policy allows the style sheet by its hash, so no nonce is needed. */
async function sendBuiltIn<Name extends keyof ViewContexts>(
  { builtIn }: Site,
  res: Response,
  status: number,
  name: Name,
  values: ViewContext<Name>,
  framing: Framing,
): Promise<void> {
  const text = await builtIn.views[name]({ ...values, nonce: '' } as ViewContexts[Name])
  setPageHeaders(res, name, builtIn.policy, framing)
  res.status(status).type('html').send(text)
}

/** Sends JSON that no cache keeps. */
export function sendJson(res: Response, status: number, body: object): void {
  setTokenHeaders(res)
  res.status(status).json(body)
}

/** Seconds after which the client should retry during an outage. */
const OUTAGE_SECONDS = 5

/** Retry-After in seconds. Waiting does not help against other errors. */
const RETRY_AFTER: Readonly<Partial<Record<TextCode, number>>> = {
  unavailable: OUTAGE_SECONDS,
  page_unavailable: OUTAGE_SECONDS,
  identify_loop: OUTAGE_SECONDS,
  token_refused: OUTAGE_SECONDS,
}

/** Sets Retry-After if waiting helps. @param seconds instead of the usual time for this code */
export function setRetryAfter(res: Response, code: TextCode, seconds: number | undefined = RETRY_AFTER[code]): void {
  if (seconds) res.setHeader('retry-after', String(seconds))
}

/** Returns the text code for a degraded request. @param otherwise if the reason has no text */
export const reasonCode = (reason: DegradedReason, otherwise: TextCode): TextCode =>
  isTextCode(reason) ? reason : otherwise

/** Sends the error of a refused request. @param text of the page */
export function sendProblem(
  site: Site,
  req: Request,
  res: Response,
  status: number,
  code: TextCode,
  text: TextCode = code,
): Promise<void> {
  return sendRefusal(site, req, res, { status, code, text })
}

/** Sends 403 to a user whom a guard does not allow. @param page where the user returns to, to log in with another account */
export function sendNotAllowed(site: Site, req: Request, res: Response, user: User, page: string): Promise<void> {
  const accountName = accountNameOf(user)
  const otherAccountUrl = logoutUrl(site.config, page)
  return sendRefusal(site, req, res, {
    status: 403,
    code: 'not_allowed',
    text: 'not_allowed',
    accountName,
    otherAccountUrl,
  })
}

/** Returns what users know their account by. An account ID says nothing to them. */
const accountNameOf = (user: User): string | undefined =>
  ['name', 'username', 'email']
    .map((field): unknown => Reflect.get(user, field))
    .find((value) => typeof value === 'string' && value !== '') as string | undefined

/** Sends 401 to a request that needs a login. @param loginUrl address of the login page, if there is one */
export async function sendLoginRequired(site: Site, req: Request, res: Response, loginUrl?: string): Promise<void> {
  const reader = readerOf(req)
  if (loginUrl !== undefined && reader === 'htmx') res.setHeader('hx-redirect', loginUrl)
  if (loginUrl !== undefined && reader === 'turbo_frame') res.setHeader('turbo-location', loginUrl)
  const text = reader === 'form' ? 'login_required_form' : 'login_required'
  if (reader === 'script') return sendJson(res, 401, { error: 'login_required', loginUrl })
  return sendRefusal(site, req, res, { status: 401, code: 'login_required', text, loginUrl })
}

interface Refusal {
  readonly status: number
  readonly code: TextCode
  /** Text of the page. */
  readonly text: TextCode
  readonly loginUrl?: string | undefined
  readonly accountName?: string | undefined
  readonly otherAccountUrl?: string | undefined
}

/** Sends a refusal as its reader needs it: page, part of a page, or JSON. If the custom view fails, the built-in page is sent. Threat O17. */
async function sendRefusal(site: Site, req: Request, res: Response, refusal: Refusal): Promise<void> {
  const { status, code, text, loginUrl, accountName, otherAccountUrl } = refusal
  const { texts, siteUrl } = site.config
  setRetryAfter(res, code)
  const reader = readerOf(req)
  if (reader === 'script' && !acceptsHtml(req)) return sendJson(res, status, { error: code })
  const canReload = status === 503 && (req.method === 'GET' || text === 'logout_unavailable') // its form has the same address
  const message = localizedText(texts, text)
  const problem = { status, code, message, homeUrl: `${siteUrl}/`, loginUrl, canReload, accountName, otherAccountUrl }
  if (reader === 'htmx' || reader === 'turbo_frame') {
    setNoStore(res)
    res
      .status(status)
      .type('html')
      .send(fragment(texts, problem, req.headers['turbo-frame']))
    return
  }
  const framing = reader === 'frame' ? 'SAMEORIGIN' : 'DENY'
  try {
    await sendPage(site, res, status, 'problem', problem, framing)
  } catch (error) {
    site.config.log.failed('views', { step: 'views.problem', error, isHookOfSite: true })
    await sendBuiltIn(site, res, status, 'problem', problem, framing)
  }
}
