/** The login page. `GET {login}` shows the form, `POST {login}` accepts the form or JSON. */
import type { Request, Response } from 'express'
import type { Config } from '../../config'
import { ANONYMOUS, userOf } from '../../decide/identity'
import { type FailedLogin, failureMessages, type LoginError, type LoginResult } from '../../decide/login'
import { isForPage, isPageLoad } from '../../decide/navigation'
import { MAX_RETURN_LENGTH, validateReferer } from '../../decide/return-to'
import { sealJson, unsealJson } from '../../storage/site-store'
import { type Context, contextOf } from '../context'
import { sendToIdentify } from '../flows/identify'
import { dropSessionOfOtherBrowser, logIn } from '../flows/log-in'
import { visit } from '../flows/visit'
import { cookieValues, isLoginPage, loginUrl, pathAndQueryOf, queryParameters, returnToOf } from '../http/request-facts'
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
  const form = sentForm(context, query.get('form'))
  const isAgain = query.get('notice') === 'session_ended'
  const notice = form?.hadSession === false ? 'send_again' : 'session_ended'
  await sendForm(context, 200, {
    ...{ returnTo, backUrl: pageBefore(site, req.headers.referer), username: form?.username ?? '' },
    message: isAgain ? localizedText(site.config.texts, notice) : undefined,
  })
}

const ownLoginPage = ({ config: { siteUrl, routes } }: Site) => siteUrl + (routes.login || '')

/** Returns the page that the user came from: by `Referer`, or by `back_to` of a form. `return_to` may be a guarded page, which redirects straight back to the login page. */
function pageBefore(site: Site, given: unknown): string {
  const page = validateReferer(given, site.config.returnPolicy)
  return page === undefined || isLoginPage(site.config, page) ? `${site.config.siteUrl}/` : page
}

type FormValues = Pick<LoginContext, 'returnTo' | 'backUrl' | 'username' | 'message'>

function sendForm(context: Context, status: number, values: FormValues, failure?: FailedLogin): Promise<void> {
  const { site, req, res } = context
  const { error, remainingAttempts, frozenForSeconds, retryAfterSeconds } = failure ?? {}
  const [, ...query] = pathAndQueryOf(req).split('?')
  const action = [ownLoginPage(site), ...query].join('?')
  const numbers = { remainingAttempts, frozenForSeconds, retryAfterSeconds }
  return sendPage(site, res, status, 'login', { action, error, ...values, ...numbers })
}

/** Handles the submitted form. Reads the password once, and removes it from the request. */
export async function handleLogin(site: Site, req: Request, res: Response): Promise<void> {
  const { username, password, return_to = queryParameters(req).get('return_to'), back_to } = readFormBody(req)
  const context = await contextOf(site, req, res)
  const returnTo = returnToOf(site.config, return_to)
  const form = { username: typeof username === 'string' ? username.slice(0, 256) : '', hadSession: hasSession(context) }
  const result = await logIn(context, { username, password })
  if (wantsJson(req)) return answerJson(context, result, returnTo)
  if (result.ok) return redirect(res, returnTo, 303)
  const { block } = context
  if (result.error === 'session_ended' && !block)
    return sendToIdentify(context, formAddress(context, returnTo, form), 'session_ended')
  const failure = neutralised(site.config, result)
  const { error, retryAfterSeconds } = failure
  setRetryAfter(res, error, retryAfterSeconds)
  const isBlocked = result.error === 'session_ended' && block
  const message = isBlocked
    ? localizedText(site.config.texts, reasonCode(block, 'unavailable'))
    : loginText(site.config, failure)
  const values = { returnTo, backUrl: pageBefore(site, back_to), username: form.username, message }
  await sendForm(context, loginErrorStatus(error), values, failure)
}

/** A form that could not be used, because its browser had no session. */
interface SentForm {
  readonly username: string
  readonly hadSession: boolean
}

const hasSession = ({ site, req, record }: Context) =>
  record !== undefined || cookieValues(req, site.config.cookies.session).length > 0

/** The address of the form has the sent form for so many seconds, encrypted. A later reader of the address learns no username. */
const SENT_FORM_SECONDS = 300
/** A longer username is typed again, because the return address of an Identify redirect has a limit. */
const MAX_KEPT_USERNAME = 100

function formAddress({ site }: Context, returnTo: string, { username, hadSession }: SentForm): string {
  const kept = username.length > MAX_KEPT_USERNAME ? '' : username
  const sealed = sealJson(['form', site.now(), kept, hadSession], site.config.encryptionKeys())
  const address = loginUrl(ownLoginPage(site), returnTo, 'session_ended')
  const whole = `${address}&form=${sealed}`
  return whole.length > MAX_RETURN_LENGTH ? address : whole
}

function sentForm({ site }: Context, sealed: string | null): SentForm | undefined {
  const sent = sealed === null ? undefined : unsealJson<unknown>(sealed, site.config.encryptionKeys())
  const [purpose, at, username, hadSession] = Array.isArray(sent) ? sent : []
  return purpose === 'form' && site.now() - at <= SENT_FORM_SECONDS ? { username, hadSession } : undefined
}

function readFormBody(req: Request): Readonly<Record<string, unknown>> {
  const body: unknown = req.body
  req.body = undefined
  return typeof body === 'object' && body !== null ? { ...body } : {}
}

/** Replaces the error if `loginMessages` is `'neutral'`, so that an attacker cannot find out which accounts exist. Threat F7. */
export function neutralised({ loginMessages }: Pick<Config, 'loginMessages'>, failure: FailedLogin): FailedLogin {
  return loginMessages === 'neutral' && NEUTRAL.has(failure.error) ? { ok: false, error: 'login_failed' } : failure
}

function loginErrorStatus(error: LoginError): number {
  if (error === 'too_many_attempts') return 429
  if (error === 'unavailable') return 503
  if (error === 'invalid_request') return 400
  return error === 'busy' ? 409 : 401
}

/** Returns the text of a failed login, in the language and words of the site. */
export function loginText({ texts }: Pick<Config, 'texts'>, failure: FailedLogin): string {
  return failureMessages(failure)
    .map(({ code, values }) => localizedText(texts, code, values))
    .join(' ')
}

function answerJson(context: Context, result: LoginResult, returnTo: string): void {
  const { site, res } = context
  if (result.ok) {
    sendJson(res, 200, { user: result.user })
    return
  }
  const failure = neutralised(site.config, result)
  setRetryAfter(res, failure.error, failure.retryAfterSeconds)
  const { ok: _failed, retryAfterSeconds: _said, ...answer } = failure
  const more =
    answer.error === 'session_ended' ? { loginUrl: loginUrl(ownLoginPage(site), returnTo, 'session_ended') } : {}
  sendJson(res, loginErrorStatus(answer.error), { ...answer, ...more })
}
