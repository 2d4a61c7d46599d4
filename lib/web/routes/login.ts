/** The login page. `GET {login}` shows the form, `POST {login}` accepts the form or JSON. */
import type { Request, Response } from 'express'
import { ANONYMOUS, userOf } from '../../decide/identity'
import { type FailedLogin, failureMessage, type LoginError, type LoginResult } from '../../decide/login'
import { validateReferer } from '../../decide/return-to'
import { type Context, contextOf } from '../context'
import { sendToIdentify } from '../flows/identify'
import { dropSessionOfOtherBrowser, logIn } from '../flows/log-in'
import { visit } from '../flows/visit'
import { isForPage, isPageLoad, loginUrl, queryParameters, returnToOf } from '../http/request-facts'
import { redirect } from '../http/response-headers'
import { reasonCode, sendJson, sendPage, sendProblem, setRetryAfter, wantsJson } from '../pages/answers'
import { localizedText } from '../pages/html'
import type { LoginContext, Site } from '../site'

const NEUTRAL: ReadonlySet<LoginError> = new Set([
  'invalid_credentials',
  'invalid_otp',
  'account_frozen',
  'account_not_active',
])

/** Shows the form. A visitor without a session is redirected to Identify first. A logout that is not confirmed is retried first. */
export async function showLogin(site: Site, req: Request, res: Response): Promise<void> {
  const context = await contextOf(site, req, res)
  const isIdentifying = isForPage(req)
  if (isPageLoad(req)) await dropSessionOfOtherBrowser(context)
  const identity = isIdentifying ? await visit(context, { identify: 'always', isLoginPage: true }) : ANONYMOUS
  if (identity === 'answered') return
  const query = queryParameters(req)
  const returnTo = returnToOf(site.config, query.get('return_to') ?? undefined)
  if (userOf(identity)) return redirect(res, returnTo, 302)
  const { degraded } = identity
  if (degraded && degraded !== 'user_unknown')
    return sendProblem(site, req, res, 503, reasonCode(degraded, 'unavailable'))
  const notice = query.get('notice') === 'session_ended' ? localizedText(site.config.texts, 'session_ended') : undefined
  await sendForm(context, 200, {
    returnTo,
    backUrl: pageBefore(site, req),
    username: '',
    error: undefined,
    message: notice,
    remainingAttempts: undefined,
    frozenForSeconds: undefined,
  })
}

const ownLoginPage = ({ config: { siteUrl, routes } }: Site) => siteUrl + (routes.login || '')

/** Returns the page that the user came from. `return_to` may be a guarded page, which redirects straight back to the login page. */
function pageBefore(site: Site, { headers: { referer } }: Request): string {
  const page = validateReferer(referer, site.config.returnPolicy)
  const isLoginPage = page?.replace(/[?#].*/s, '') === ownLoginPage(site)
  return page === undefined || isLoginPage ? `${site.config.siteUrl}/` : page
}

function sendForm(context: Context, status: number, values: Omit<LoginContext, 'action' | 'nonce'>): Promise<void> {
  const { site, res } = context
  return sendPage(site, res, status, 'login', { action: ownLoginPage(site), ...values })
}

/** Handles the submitted form. Reads the password once, and removes it from the request. */
export async function handleLogin(site: Site, req: Request, res: Response): Promise<void> {
  const { username, password, return_to } = readFormBody(req)
  const context = await contextOf(site, req, res)
  const returnTo = returnToOf(site.config, return_to)
  const result = await logIn(context, { username, password })
  if (wantsJson(req)) return answerJson(context, result, returnTo)
  if (result.ok) return redirect(res, returnTo, 303)
  if (result.error === 'session_ended' && !context.block)
    return sendToIdentify(context, loginUrl(ownLoginPage(site), returnTo, 'session_ended'), 'session_ended')
  const failure = neutralised(site, result)
  const { error, remainingAttempts, frozenForSeconds, retryAfterSeconds } = failure
  setRetryAfter(res, error, retryAfterSeconds)
  const name = typeof username === 'string' ? username.slice(0, 256) : ''
  await sendForm(context, loginErrorStatus(error), {
    returnTo,
    backUrl: returnTo,
    username: name,
    error,
    message: loginErrorMessage(site, failure),
    remainingAttempts,
    frozenForSeconds,
  })
}

function readFormBody(req: Request): Readonly<Record<string, unknown>> {
  const body: unknown = req.body
  req.body = undefined
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/** Replaces the error if `loginMessages` is `'neutral'`, so that an attacker cannot find out which accounts exist. Threat F7. */
function neutralised({ config }: Site, failure: FailedLogin): FailedLogin {
  return config.loginMessages === 'neutral' && NEUTRAL.has(failure.error)
    ? { ok: false, error: 'login_failed' }
    : failure
}

function loginErrorStatus(error: LoginError): number {
  if (error === 'too_many_attempts') return 429
  if (error === 'unavailable') return 503
  if (error === 'invalid_request') return 400
  return error === 'busy' ? 409 : 401
}

function loginErrorMessage({ config }: Site, failure: FailedLogin): string {
  const { code, values } = failureMessage(failure)
  return localizedText(config.texts, code, values)
}

function answerJson(context: Context, result: LoginResult, returnTo: string): void {
  const { site, res } = context
  if (result.ok) {
    sendJson(res, 200, { user: result.user })
    return
  }
  const failure = neutralised(site, result)
  setRetryAfter(res, failure.error, failure.retryAfterSeconds)
  const { ok: _failed, retryAfterSeconds: _said, ...answer } = failure
  const more =
    answer.error === 'session_ended' ? { loginUrl: loginUrl(ownLoginPage(site), returnTo, 'session_ended') } : {}
  sendJson(res, loginErrorStatus(answer.error), { ...answer, ...more })
}
