/** Answers of our own routes: pages under a strict policy, or JSON for those who ask for it. */
import type { Request, Response } from 'express'
import { HOOKS_MS, inTime } from './hooks'
import { contentSecurityPolicy } from './pages/style'
import { textOf } from './pages/texts'
import { setPrivate } from './redirect'
import type { Site } from './site'

/** Does the client want JSON rather than a page? */
export function wantsJson(req: Request): boolean {
  return req.is('application/json') === 'application/json' || req.accepts(['html', 'json']) === 'json'
}

/** Headers of every page of ours. */
export function setPageHeaders(site: Site, res: Response): void {
  setPrivate(res)
  const { ssoUrl, returnPolicy } = site.config
  const targets = [new URL(ssoUrl).origin, returnPolicy.origin, ...returnPolicy.trustedOrigins]
  res.setHeader('content-security-policy', contentSecurityPolicy([...new Set(targets)]))
  res.setHeader('x-content-type-options', 'nosniff')
  res.setHeader('x-frame-options', 'DENY')
}

/** Sends a page. */
export async function sendPage(
  site: Site,
  res: Response,
  status: number,
  page: string | Promise<string>,
): Promise<void> {
  const text = await inTime('views', AbortSignal.timeout(HOOKS_MS), async () => page)
  setPageHeaders(site, res)
  res.status(status).type('html').send(text)
}

/** Sends JSON that nobody may keep. */
export function sendJson(res: Response, status: number, body: object): void {
  setPrivate(res)
  res.status(status).json(body)
}

/** Says what was wrong, as JSON or as a page. */
export async function sendProblem(
  site: Site,
  req: Request,
  res: Response,
  status: number,
  code: string,
): Promise<void> {
  if (wantsJson(req)) return sendJson(res, status, { error: code })
  const message = textOf(site.texts, code)
  await sendPage(site, res, status, site.views.problem({ status, code, message, homeUrl: `${site.config.siteUrl}/` }))
}
