/** `GET {login}` shows the form, `POST {login}` takes it as form or JSON. */
import type { Request, Response } from 'express'
import type { LoginError, LoginResult } from '../../decide/login'
import { textOfFailure } from '../../decide/login-text'
import { NOBODY, shownUser } from '../../decide/visit'
import { forgetTripWhenServed, sendToIdentify } from '../actions/identify'
import { leaveToAnother, logIn } from '../actions/log-in'
import { settle } from '../actions/settle'
import { redirect } from '../http/redirect'
import { isNavigation, queryOf } from '../http/request-facts'
import { loginUrl, returnToOf } from '../http/return-urls'
import { reasonCode, sendJson, sendPage, sendProblem, setRetryAfter, wantsJson } from '../pages/answers'
import { textOf } from '../pages/text'
import type { LoginContext, Site } from '../site'
import { blockOf, openVisit, type Visit } from '../visit'

const NEUTRAL: ReadonlySet<LoginError> = new Set([
  'invalid_credentials',
  'invalid_otp',
  'account_frozen',
  'account_not_active',
])

/** Shows the form; a visitor without a session goes through Identify first, and one who has logged out has it confirmed. */
export async function showLogin(site: Site, req: Request, res: Response): Promise<void> {
  const visit = await openVisit(site, req, res)
  const isIdentifying = isNavigation(req)
  if (isIdentifying) await leaveToAnother(visit)
  const outcome = isIdentifying
    ? await settle(visit, { identify: 'always', wantsLogin: true })
    : { do: 'show' as const, shown: NOBODY }
  if (outcome.do === 'answered') return
  if (outcome.shown.record) forgetTripWhenServed(visit, () => true)
  const query = queryOf(req)
  const returnTo = returnToOf(site.config, query.get('return_to') ?? undefined)
  if (shownUser(outcome.shown)) return redirect(res, returnTo, 302)
  const { degraded } = outcome.shown
  if (degraded && degraded !== 'user_unknown')
    return sendProblem(site, req, res, 503, reasonCode(degraded, 'unavailable'))
  const notice = query.get('notice') === 'session_ended' ? textOf(site.config.texts, 'session_ended') : undefined
  await sendForm(visit, 200, {
    returnTo,
    username: '',
    error: undefined,
    message: notice,
    remainingAttempts: undefined,
    frozenForSeconds: undefined,
  })
}

/** Returns the address of the built-in login page. */
const ownLoginPage = ({ config: { siteUrl, routes } }: Site) => siteUrl + (routes.login || '')

function sendForm(visit: Visit, status: number, shown: Omit<LoginContext, 'action' | 'nonce'>): Promise<void> {
  const { site, res } = visit
  return sendPage(site, res, status, 'login', { action: ownLoginPage(site), ...shown })
}

/** Takes the form. The password is read once and does not stay on the request. */
export async function takeLogin(site: Site, req: Request, res: Response): Promise<void> {
  const { username, password, return_to } = takeBody(req)
  const visit = await openVisit(site, req, res)
  const returnTo = returnToOf(site.config, return_to)
  const result = await logIn(visit, { username, password })
  if (wantsJson(req)) return answerJson(visit, result, returnTo)
  if (result.ok) return redirect(res, returnTo, 303)
  if (result.error === 'session_ended' && !blockOf(visit))
    return sendToIdentify(visit, loginUrl(ownLoginPage(site), returnTo, 'session_ended'), 'session_ended')
  const shown = neutralised(site, result)
  const { error, remainingAttempts, frozenForSeconds, retryAfterSeconds } = shown
  setRetryAfter(res, error, retryAfterSeconds)
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

function messageOf({ config }: Site, failure: Failure): string {
  const { code, values } = textOfFailure(failure)
  return textOf(config.texts, code, values)
}

function answerJson(visit: Visit, result: LoginResult, returnTo: string): void {
  const { site, res } = visit
  if (result.ok) {
    sendJson(res, 200, { user: result.user })
    return
  }
  const failure = neutralised(site, result)
  setRetryAfter(res, failure.error, failure.retryAfterSeconds)
  const { ok: _failed, retryAfterSeconds: _said, ...shown } = failure
  const more =
    shown.error === 'session_ended' ? { loginUrl: loginUrl(ownLoginPage(site), returnTo, 'session_ended') } : {}
  sendJson(res, statusOf(shown.error), { ...shown, ...more })
}
