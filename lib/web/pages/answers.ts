/** Answers of our own routes: pages under a strict policy, or JSON for those who ask for it. */
import type { Request, Response } from 'express'
import { HOOKS_MS, inTime } from '../hooks'
import { setNoStore, setTokenHeaders } from '../http/redirect'
import type { Site } from '../site'
import { contentSecurityPolicy } from './style'
import { textOf } from './texts'
import { builtInViews } from './views'

/** Does the client want JSON rather than a page? */
export function wantsJson(req: Request): boolean {
  return req.is('application/json') === 'application/json' || req.accepts(['html', 'json']) === 'json'
}

/**
 * Headers of every page of ours. A form must be able to say where it comes from, also in a browser without Fetch Metadata
 * (threat F14); the landing page has said before that its address is nobody's business.
 */
export function setPageHeaders(site: Site, res: Response): void {
  setNoStore(res)
  if (!res.hasHeader('referrer-policy')) res.setHeader('referrer-policy', 'same-origin')
  const { ssoUrl, returnPolicy } = site.config
  const targets = [new URL(ssoUrl).origin, returnPolicy.origin, ...returnPolicy.trustedOrigins]
  res.setHeader('content-security-policy', contentSecurityPolicy([...new Set(targets)]))
  res.setHeader('x-content-type-options', 'nosniff')
  res.setHeader('x-frame-options', 'DENY')
}

/** Sends a page. @param view of the site; one that throws, or does not settle in time, is an error of the site */
export async function sendPage(
  site: Site,
  res: Response,
  status: number,
  view: () => string | Promise<string>,
): Promise<void> {
  const text = await inTime('views', AbortSignal.timeout(HOOKS_MS), async () => view())
  setPageHeaders(site, res)
  res.status(status).type('html').send(text)
}

/** Sends JSON that nobody may keep. */
export function sendJson(res: Response, status: number, body: object): void {
  setTokenHeaders(res)
  res.status(status).json(body)
}

/** Says what was wrong, as JSON or as a page; where the site's own view fails, on ours. Threat O17. */
export async function sendProblem(
  site: Site,
  req: Request,
  res: Response,
  status: number,
  code: string,
): Promise<void> {
  if (wantsJson(req)) return sendJson(res, status, { error: code })
  const context = { status, code, message: textOf(site.texts, code), homeUrl: `${site.config.siteUrl}/` }
  try {
    await sendPage(site, res, status, () => site.views.problem(context))
  } catch (error) {
    site.config.log.broken('views:problem', 'views.problem failed, so the built-in page is shown', error)
    await sendPage(site, res, status, () => builtInViews(site.texts).problem(context))
  }
}
