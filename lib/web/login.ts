/** `GET {login}` shows the form, `POST {login}` takes it as form or JSON. Contract, section 4. */
import type { Request, Response } from 'express'
import type { LoginError, LoginResult } from '../decide/login'
import { judgeReturnTo, withoutFlowParameter } from '../decide/return-to'
import { sendJson, sendPage, sendProblem, wantsJson } from './answers'
import { login } from './authenticate'
import { forgetSignedOut, retryLogout, signedOutOf } from './end-session'
import { isNavigation, queryOf } from './facts'
import { settleVisit } from './middleware'
import { textOf } from './pages/texts'
import type { LoginContext } from './pages/views'
import { redirect, sendToIdentify } from './redirect'
import { attach } from './request'
import type { Site } from './site'
import { blockOf, openVisit, type Visit } from './visit'

const NEUTRAL: ReadonlySet<LoginError> = new Set(['invalid_credentials', 'account_frozen', 'account_not_active'])

/** The return address of a form or a query; anything that is not ours leads to the front page. */
export function returnToOf(site: Site, value: unknown): string {
  return withoutFlowParameter(judgeReturnTo(value, site.config.returnPolicy) ?? `${site.config.siteUrl}/`)
}

/** Address of the login page for one return address. */
export function loginUrl({ config }: Site, returnTo: string, notice?: 'session_ended'): string {
  const more = notice ? `&notice=${notice}` : ''
  return `${config.siteUrl}${config.routes.login || '/login'}?return_to=${encodeURIComponent(returnTo)}${more}`
}

/** Shows the form; a visitor without a session goes through Identify first. */
export async function showLogin(site: Site, req: Request, res: Response): Promise<void> {
  const visit = await openVisit(site, req, res)
  attach(visit)
  await endSignedOut(visit)
  const isIdentifying = isNavigation(req)
  if (isIdentifying && (await settleVisit(visit, { mustIdentify: true, fresh: false })) === 'answered') return
  const query = queryOf(req)
  const returnTo = returnToOf(site, query.get('return_to') ?? undefined)
  if (visit.served?.status === 'loggedin') return redirect(res, returnTo, 302)
  const blocked = visit.degraded
  if (isIdentifying && blocked && blocked !== 'user_unknown') {
    const code =
      blocked === 'cookies_blocked' || blocked === 'identify_loop' || blocked === 'token_refused'
        ? blocked
        : 'unavailable'
    return sendProblem(site, req, res, 503, code)
  }
  const notice = query.get('notice') === 'session_ended' ? textOf(site.texts, 'session_ended') : undefined
  await sendForm(visit, 200, {
    returnTo,
    username: '',
    error: undefined,
    message: notice,
    remainingAttempts: undefined,
    frozenForSeconds: undefined,
  })
}

/** Pressing "log in" ends the signed-out state: the logout is tried once more. Threat S12. */
async function endSignedOut(visit: Visit): Promise<void> {
  const signedOut = signedOutOf(visit)
  if (signedOut === undefined || !visit.isStoreAvailable) return
  if ((await retryLogout(visit, signedOut)) === 'unknown') forgetSignedOut(visit)
}

function sendForm(visit: Visit, status: number, context: Omit<LoginContext, 'action'>): Promise<void> {
  const { site, res } = visit
  const action = `${site.config.siteUrl}${site.config.routes.login}`
  return sendPage(site, res, status, site.views.login({ action, ...context }))
}

/** Takes the form. The password is read once and does not stay on the request. */
export async function takeLogin(site: Site, req: Request, res: Response): Promise<void> {
  const { username, password, return_to } = takeBody(req)
  const visit = await openVisit(site, req, res)
  attach(visit)
  const returnTo = returnToOf(site, return_to)
  const result = await login(visit, { username, password })
  if (wantsJson(req)) return answerJson(visit, result, returnTo)
  if (result.ok) return redirect(res, returnTo, 303)
  if (result.error === 'session_ended' && !blockOf(visit))
    return sendToIdentify(visit, loginUrl(site, returnTo, 'session_ended'), 'session_ended')
  const shown = neutralised(site, result)
  setRetryAfter(res, shown)
  const { error, remainingAttempts, frozenForSeconds } = shown
  const name = typeof username === 'string' ? username.slice(0, 256) : ''
  await sendForm(visit, statusOf(error), {
    returnTo,
    username: name,
    error,
    message: messageOf(site, shown),
    remainingAttempts,
    frozenForSeconds,
  })
}

function takeBody(req: Request): Readonly<Record<string, unknown>> {
  const body: unknown = req.body
  req.body = undefined
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

type Failure = Extract<LoginResult, { ok: false }>

/** With `loginMessages: 'neutral'` nobody learns which accounts exist. Threat F7. */
function neutralised({ config }: Site, failure: Failure): Failure {
  return config.loginMessages === 'neutral' && NEUTRAL.has(failure.error)
    ? { ok: false, error: 'login_failed' }
    : failure
}

function statusOf(error: LoginError): number {
  if (error === 'too_many_attempts') return 429
  if (error === 'unavailable') return 503
  if (error === 'invalid_request') return 400
  return error === 'busy' ? 409 : 401
}

/** An outage is over within a breaker's window, or goes on. */
const OUTAGE_SECONDS = 5

function setRetryAfter(res: Response, { error, retryAfterSeconds }: Failure): void {
  const seconds = retryAfterSeconds ?? (error === 'unavailable' ? OUTAGE_SECONDS : undefined)
  if (seconds) res.setHeader('retry-after', String(seconds))
}

function messageOf({ texts }: Site, failure: Failure): string {
  const { error, remainingAttempts, frozenForSeconds, retryAfterSeconds = 0 } = failure
  if (error === 'too_many_attempts' && retryAfterSeconds > 90) {
    return textOf(texts, 'too_many_attempts_minutes', { minutes: Math.ceil(retryAfterSeconds / 60) })
  }
  if (error === 'invalid_credentials' && remainingAttempts === 1) return textOf(texts, 'invalid_credentials_last')
  if (error === 'invalid_credentials' && remainingAttempts !== undefined) {
    return textOf(texts, 'invalid_credentials_attempts', { attempts: remainingAttempts })
  }
  if (error === 'account_frozen' && frozenForSeconds !== undefined) {
    return textOf(texts, 'account_frozen_minutes', { minutes: Math.ceil(frozenForSeconds / 60) })
  }
  return textOf(texts, error)
}

function answerJson(visit: Visit, result: LoginResult, returnTo: string): void {
  const { site, res } = visit
  if (result.ok) {
    sendJson(res, 200, { user: result.user })
    return
  }
  const failure = neutralised(site, result)
  setRetryAfter(res, failure)
  const { ok: _failed, retryAfterSeconds: _said, ...shown } = failure
  const more = shown.error === 'session_ended' ? { loginUrl: loginUrl(site, returnTo, 'session_ended') } : {}
  sendJson(res, statusOf(shown.error), { ...shown, ...more })
}
