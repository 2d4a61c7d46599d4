/** The login page. `GET {login}` shows the form, `POST {login}` accepts the form or JSON. */
import type { Request } from 'express'
import type { Config } from '../../config'
import { type FailedLogin, failureTexts, loginErrorStatus, neutralised } from '../../decide/login'
import { isForPage } from '../../decide/navigation'
import { ANONYMOUS, type DegradedReason, userOf } from '../../decide/record'
import { validateReferer } from '../../decide/return-to'
import type { Context } from '../context'
import { logInByPassword } from '../flows/login-form'
import { visit } from '../flows/visit'
import { isLoginPage, loginUrl, pathAndQueryOf, queryParameters, returnToOf } from '../http/request-facts'
import { redirect } from '../http/response-headers'
import { reasonCode, sendJson, sendPage, sendProblem, setRetryAfter, wantsJson } from '../pages/answers'
import type { LoginContext } from '../pages/views'
import type { Site } from '../site'

/** Shows the form. A visitor without a session is redirected to Identify first. A logout that is not confirmed is retried first. */
export async function showLogin(ctx: Context): Promise<void> {
  const { site, req, res } = ctx
  const identity = isForPage(req) ? await visit(ctx, { identify: 'always', isLoginPage: true }) : ANONYMOUS
  if (identity === 'answered') return
  const query = queryParameters(req)
  const returnTo = returnToOf(site.config, query.get('return_to'))
  if (userOf(identity)) return redirect(res, returnTo, 302)
  const { degraded } = identity
  if (degraded && degraded !== 'user_unknown') return sendProblem(site, res, 503, reasonCode(degraded, 'unavailable'))
  await sendForm(ctx, 200, { returnTo, username: '', message: noticeOf(ctx, degraded, query) })
}

/** Returns the message above an empty form. The form stays for a user who cannot be loaded, because another account may log in. */
function noticeOf({ site }: Context, degraded: DegradedReason | undefined, query: URLSearchParams) {
  const { texts } = site.config
  if (degraded === 'user_unknown') return texts.unavailable
  return query.get('notice') === 'session_ended' ? texts.session_ended : undefined
}

/** Returns the page that the user came from. `return_to` may be a guarded page, which redirects straight back to the login page. */
function pageBefore({ config }: Site, req: Request): string {
  const page = validateReferer(req.headers.referer, config.returnPolicy)
  return page === undefined || isLoginPage(config, page) ? `${config.siteUrl}/` : page
}

type FormValues = Pick<LoginContext, 'returnTo' | 'username' | 'message'>

function sendForm({ site, req, res }: Context, status: number, values: FormValues, failure?: FailedLogin) {
  const { error, remainingAttempts, frozenForSeconds, retryAfterSeconds } = failure ?? {}
  const [, ...query] = pathAndQueryOf(req).split('?')
  const action = [site.config.loginPage, ...query].join('?')
  const numbers = { remainingAttempts, frozenForSeconds, retryAfterSeconds }
  return sendPage(site, res, status, 'login', { action, error, backUrl: pageBefore(site, req), ...values, ...numbers })
}

/** Handles the submitted form. */
export async function handleLogin(ctx: Context, form: Readonly<Record<string, unknown>>): Promise<void> {
  const { site, req, res } = ctx
  const { username, password, return_to = queryParameters(req).get('return_to') } = form
  const { loginPage = '', loginMessages } = site.config
  const returnTo = returnToOf(site.config, return_to)
  const result = await logInByPassword(ctx, { username, password })
  if (result.ok) return wantsJson(req) ? sendJson(res, 200, { user: result.user }) : redirect(res, returnTo, 303)
  const failure = neutralised(loginMessages, result)
  const status = loginErrorStatus(failure.error)
  const formAgain = result.error === 'session_ended' ? loginUrl(loginPage, returnTo, 'session_ended') : undefined
  if (formAgain !== undefined && !wantsJson(req)) {
    const { identifyProblem } = ctx
    if (identifyProblem) return sendProblem(site, res, 503, reasonCode(identifyProblem, 'unavailable'))
    return ctx.sendToIdentify(formAgain, 'session_ended')
  }
  setRetryAfter(res, status, failure.retryAfterSeconds)
  if (wantsJson(req)) {
    const { ok: _failed, retryAfterSeconds: _said, ...answer } = failure
    return sendJson(res, status, { ...answer, loginUrl: formAgain })
  }
  const typed = typeof username === 'string' ? username.slice(0, 256) : ''
  await sendForm(ctx, status, { returnTo, username: typed, message: loginText(site.config, failure) }, failure)
}

/** Returns the text of a failed login, in the language and words of the site. */
export function loginText({ texts }: Pick<Config, 'texts'>, failure: FailedLogin): string {
  return failureTexts(failure)
    .map(({ code, values }) =>
      texts[code].replace(/\{(attempts|minutes|hours)\}/g, (whole, name) => String(values[name] ?? whole)),
    )
    .join(' ')
}
