/** Checks the login form: does a browser's POST reach the package, or does another middleware refuse the form first? */
import type { Config } from '../config'
import { sendCall } from '../remote/http'
import { about, errorCode, type Finding } from './doctor-finding'

const ANSWER_MS = 5000
const { ok, wrong, note } = about('login form')

const MOUNT =
  'mount sso before the CSRF middleware (csurf, csrf-csrf, lusca). The forms of this package need no CSRF token. If the page is your own: routes.login'

/**
 * Posts the login form with an empty username.
 * The package responds with 400 and does not call the SSO system, so the check uses no login attempt.
 */
export async function* formFindings({ routes: { login }, siteUrl, returnPolicy }: Config): AsyncGenerator<Finding> {
  if (login === false) return
  const url = siteUrl + login
  const headers = {
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    origin: returnPolicy.origin,
    'sec-fetch-site': 'same-origin',
  }
  const form = { operation: 'site', url, method: 'POST', headers, body: 'username=&password=' } as const
  try {
    const { status, text } = await sendCall({ ...form, timeoutMs: ANSWER_MS })
    const says = `POST ${url} answers HTTP ${status}`
    if (text.includes('"invalid_request"')) yield ok(`${says} to a form without a username, as expected`)
    else if (text.includes('"cross_origin"'))
      yield wrong(`${says}: a proxy changes Origin or Sec-Fetch-Site`, 'the proxy must pass both headers on unchanged')
    else if (text.includes('"bad_request"'))
      yield wrong(`${says}: another middleware reads the form first`, 'mount sso before that middleware')
    else if (status === 403) yield wrong(`${says}: another middleware or a proxy refuses the form`, MOUNT)
    else yield wrong(`${says}: the form does not reach sso`, 'the proxy must pass POST on. Your own page: routes.login')
  } catch (error) {
    yield note(`POST ${url}: no answer (${errorCode(error)})`, 'see site')
  }
}
