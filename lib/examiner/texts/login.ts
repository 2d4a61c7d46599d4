/** Texts of the groups `login`, `outage`, `clock`, `headers`, `rest` and `calls`. */
import type { CheckText, CheckTexts } from '../check'
import { row, SENSIBLE } from './row'

const AUTHENTICATE = 'Interface, "POST {sso_url}/authenticate"'
const ERRORS = 'Interface, "SSO2 errors"'
const FAULTS = 'Good practice: each outside call has a time limit and a fallback'
const FORM = 'Use the built-in login page, or req.sso2.login() with its result.'
const refusalText = (good: string): CheckText =>
  row(
    good,
    'The user does not learn why the login fails, or gets an error page.',
    ERRORS,
    'Show a message for this code in err, with the form.',
    FORM,
  )
const ENDED = (good: string): CheckText =>
  row(
    good,
    'The user cannot log in in this browser any more.',
    ERRORS,
    'Redirect through Identify, and show the form again with a message.',
    FORM,
  )

export const loginTexts: CheckTexts = {
  'login/right-password': row(
    'The right password logs the user in, with one call of Authenticate.',
    'Users cannot log in.',
    AUTHENTICATE,
    'Call Authenticate once, exchange the ticket, and load the user.',
    FORM,
  ),
  'login/new-session-id': row(
    'The session ID changes at the login, and the old ID is not logged in.',
    'An attacker who planted a session ID is logged in as the user.',
    'OWASP ASVS 5, 7.2.4; threat model, L2',
    'If the ID is unchanged, make a new one at the login. If the old ID still works, delete its record: do not copy it, and do not let it point to the new session.',
    'Use sso.session, or a session whose regenerate() deletes the old record.',
  ),
  'login/return-address': row(
    'A return address on another site is refused: by the form, by the login page of visitors and users, and by the logout. The login leads to an address of this site.',
    "A link to your login page leads to the attacker's page, which looks like yours.",
    'RFC 9700, 4.11.1; OWASP ASVS 5, 3.7.2',
    "Parse the address: const url = new URL(next, 'https://your.site'). Go on only if url.origin is the origin of your site and url.pathname does not begin with //, which /.// becomes. Redirect to url.pathname + url.search. A first character / proves nothing: // and /\\ begin another host. Do not decode the address after the check: %2F%2F becomes //. Use one function for the form, the login page and the logout.",
    FORM,
  ),
  'login/foreign-form': row(
    'A form on another site cannot log in.',
    "An attacker logs the user in to the attacker's account.",
    'OWASP ASVS 5, 3.5.1',
    "If Sec-Fetch-Site is there, accept same-origin only. If it is not, compare Origin as a whole with that of your site: origin === 'https://your.site', not startsWith, endsWith or includes. Or check a CSRF token that is bound to the session. Log in by POST only.",
    FORM,
  ),
  'login/double-submit': row(
    'Two clicks on the button send the password once.',
    'Two wrong attempts are counted, and accounts are frozen sooner.',
    AUTHENTICATE,
    'Take a lock per session, and share the result.',
    FORM,
  ),
  'login/same-username': row(
    'While a user logs in, another browser with the same username and a wrong password is not logged in.',
    'Whoever knows a username, and sends it at the right moment, is logged in as the user.',
    'Threat model, L9',
    'Share the result of a login in progress within one session only, and only for the same username and password: const key = hash(sessionId + username + password).',
    FORM,
  ),
  'login/two-users': row(
    'Two users who log in at the same moment, or load pages at the same moment, each see their own account.',
    'A user is logged in as somebody else.',
    'Threat model, L9',
    'Keep ticket, access token and user in local variables of the request. A variable of the module belongs to all requests at once. Keep responses for a user in no cache that is shared by users.',
    FORM,
  ),
  'login/lost-response': row(
    'When the response to Authenticate is lost, the password is not sent again.',
    'One click counts as two attempts, or uses up a one-time password.',
    FAULTS,
    'Never repeat Authenticate. Ask Session Status for the result.',
    FORM,
  ),
  'login/password-stays-nowhere': row(
    'The password is in no address, cookie, page or log line.',
    'A reader of logs or histories has the password.',
    `${AUTHENTICATE}: must not store or log credentials`,
    'Log no request bodies, and no token or body of a call of the platform: the claims of a token are base64 and no secret. Send the form by POST. Never put the password back into the form.',
    FORM,
  ),
  'login/wrong-password': row(
    'After a wrong password, the form is there with a message, the username and the attempts left, without the password. The right password then works.',
    'The user does not learn that the account will be frozen.',
    `${ERRORS}: raa`,
    'Show raa, the number of attempts that are left, in the message. Fill the username in again. Keep no outcome of a login for the next one, and count no err as a failure of the platform.',
    FORM,
  ),
  'login/frozen-account': row(
    'A frozen account gets a message with its time.',
    'The user keeps trying for 12 hours.',
    `${ERRORS}: frf`,
    'frf is the number of seconds until the account works again. Show it as a time.',
    FORM,
  ),
  'login/inactive-account': refusalText('An inactive account gets a page, and no login.'),
  'login/session-limit': refusalText('A user with too many sessions gets a page, and no login.'),
  'login/expired-one-time-password': refusalText('An expired one-time password gets a page, and no login.'),
  'login/one-time-password': refusalText('A one-time password logs in once.'),
  'login/session-terminated': ENDED(
    'When the SSO session has ended while the form was open, the user can still log in.',
  ),
  'login/session-not-found': ENDED(
    'When the SSO session was removed while the form was open, the user can still log in.',
  ),
  'login/other-account': row(
    'When another account is logged in meanwhile, no wrong user is shown.',
    "A user sees another user's name.",
    `${ERRORS}: session_already_logged_in_on_another_account`,
    'Ask Session Status, and show the user whom the platform has.',
    FORM,
  ),
}

/** Descriptions of the failures, by the last part of the check's name. */
const failures: Readonly<Record<string, string>> = {
  refused: 'cannot be reached (connection refused)',
  down: 'breaks off connections',
  hang: 'never responds',
  slow: 'takes 6 seconds',
  'status-500': 'responds 500',
  'status-503': 'responds 503 with Retry-After',
  garbage: 'responds with text that is no JSON',
  empty: 'responds with an empty body',
  huge: 'responds with 20 MB',
  redirect: 'responds with a redirect',
  'wrong-signature': 'signs with another secret',
  'wrong-session': 'responds about another session',
}

const page = (does: string): CheckText =>
  row(
    `While Session Status ${does}, users with an old session get their pages within 5 seconds, without a redirect to the platform.`,
    'The whole site is down when the platform is.',
    FAULTS,
    'Give each call of the platform a time limit of 2 seconds. Catch every failure of the call, keep the session, and serve the page from it.',
    'Leave timeoutMs and graceSeconds at their defaults.',
  )
const pageWithWrongResponse = (does: string): CheckText => ({
  ...page(does),
  effect: 'One response that cannot be verified logs users out, or shows them an error page.',
  fix: 'Treat a response that cannot be read or verified as no response: keep the session as it is, serve the page, and ask again later. Catch the error of the verification.',
})
const login = (does: string): CheckText =>
  row(
    `While Authenticate ${does}, the user is told "not now" and not "wrong password".`,
    'The user changes a password that is right, or sees an error page.',
    FAULTS,
    'Say that the password is wrong only if the response is verified and its err is invalid_credentials. If the call fails in any way, respond 503 with the form and a message such as: Logging in does not work right now.',
    FORM,
  )
const logout = (does: string): CheckText =>
  row(
    `While Logout ${does}, the user is logged out here, and Identify does not log the user in again.`,
    'The user believes to be logged out, and is not. The next user of the computer has the account.',
    FAULTS,
    'End the session of the site first. Remember the logout, and accept no login from Identify for this SSO session until the platform has confirmed it.',
    SENSIBLE,
  )
const HOOKS = 'Set tokenUrl and apiUrl. A custom exchangeTicket or loadUser must throw when it fails.'
const landing =
  (part: string) =>
  (does: string): CheckText =>
    row(
      `While ${part} ${does}, the visitor gets the page and is anonymous.`,
      'Users who are logged in on another site see an error page on every page of this one.',
      'Interface, "Landing page"',
      'Catch the failure, store an anonymous session, and redirect to r. Try the login again later.',
      HOOKS,
    )

const cellsOf = (operation: string, text: (does: string) => CheckText): CheckTexts =>
  Object.fromEntries(Object.entries(failures).map(([name, does]) => [`outage/${operation}-${name}`, text(does)]))

export const outageTexts: CheckTexts = {
  ...cellsOf('page', page),
  ...Object.fromEntries(
    ['wrong-signature', 'garbage', 'empty'].map((name) => [
      `outage/page-${name}`,
      pageWithWrongResponse(failures[name] ?? ''),
    ]),
  ),
  ...cellsOf('login', login),
  ...cellsOf('logout', logout),
  ...cellsOf('ticket', landing('the token endpoint')),
  ...cellsOf('user', landing('the REST API')),
  'outage/few-calls': row(
    'While the platform does not work, not every page calls it.',
    'The load of your site keeps the platform down, and each page waits for the time limit.',
    FAULTS,
    'After some failed calls, stop calling for some seconds, and let one call at a time find out whether it works again.',
    SENSIBLE,
  ),
  'outage/grace-period': row(
    'After the grace period, a user who cannot be checked is not shown any more.',
    'A user who has logged out on another site stays logged in here as long as the platform is down.',
    'Threat model, S11',
    'Keep the time of the last verified response. After the grace period, treat the user as anonymous.',
    'Leave graceSeconds at its default.',
  ),
  'outage/new-visitors': row(
    'In a long outage, new visitors are served without a redirect to the dead platform.',
    'New visitors cannot open the site.',
    FAULTS,
    'After some failed calls, stop redirecting, and probe the platform in the background.',
    SENSIBLE,
  ),
  'outage/recovery': row(
    'Ten seconds after an outage, users can log in.',
    'The outage of the platform goes on at the site.',
    FAULTS,
    'Probe the platform every second while it is down.',
    SENSIBLE,
  ),
}

const CLOCK = 'Interface, "Limits": tokens live 10 seconds'
const clockCheckText = (difference: string): CheckText =>
  row(
    `With the platform's clock ${difference}, the site works, or gives up with a page and without a loop.`,
    'Users get "too many redirects", or old tokens are accepted.',
    CLOCK,
    'Allow a difference of 5 seconds. Refuse a token beyond that, and serve the page without a login after the third redirect.',
    'Leave clockToleranceSeconds at 5, and keep the clock right (NTP).',
  )

export const clockTexts: CheckTexts = {
  'clock/ahead-3-s': clockCheckText('3 seconds ahead'),
  'clock/behind-3-s': clockCheckText('3 seconds behind'),
  'clock/ahead-30-s': clockCheckText('30 seconds ahead'),
  'clock/behind-30-s': clockCheckText('30 seconds behind'),
  'clock/ahead-10-min': clockCheckText('10 minutes ahead'),
  'clock/behind-10-min': clockCheckText('10 minutes behind'),
}

export const headerTexts: CheckTexts = {
  'headers/login-framing': row(
    'The login page cannot be framed.',
    'An attacker puts the form into a page of another site and reads what is typed around it.',
    'OWASP ASVS 5, 3.4.6',
    "Send Content-Security-Policy: frame-ancestors 'none', and not *.",
    'The built-in page has it. Add it to custom views.',
  ),
  'headers/cross-origin': row(
    'No script of another site can read the pages of a user.',
    'Any page that the user visits reads the pages of the user on your site.',
    'Fetch standard, CORS protocol; OWASP ASVS 5, 3.4.2',
    'Send Access-Control-Allow-Origin only for a list of known origins, never the Origin of the request, and no Access-Control-Allow-Credentials on pages.',
    SENSIBLE,
  ),
  'headers/referrer-policy': row(
    'The redirect to Identify and the landing page have a strict Referrer-Policy.',
    'The token in the address is sent to other sites.',
    'RFC 9700, 4.2.4',
    'Send Referrer-Policy: no-referrer.',
    SENSIBLE,
  ),
  'headers/cache-control': row(
    'A response that sets a cookie may not be stored by shared caches.',
    "A CDN gives one user's cookie to everybody.",
    'RFC 9111, 7.3; RFC 6265bis, 8',
    'Send Cache-Control: private, no-store with Set-Cookie.',
    SENSIBLE,
  ),
  'headers/version-banner': row(
    'Responses do not name the software and its version.',
    'An attacker finds known faults sooner.',
    'OWASP ASVS 5, 13.4.6',
    'Switch the headers Server and X-Powered-By off.',
    "app.disable('x-powered-by')",
  ),
}

const rest = (name: string): CheckText =>
  row(
    `The page with ${name} works, and survives 401, 403, 429 and 500 of the REST API.`,
    'Users see an error page.',
    'Interface, "REST API errors"',
    'Send method, headers (authorization: Bearer, content-type) and body as the interface says. Catch the error, and show a message. On 401, go through Identify once, and not again for a minute: keep the time across the new session.',
    'Catch PlatformApiError.',
  )

export const restTexts: CheckTexts = {
  'rest/marketplace': rest('marketplace groups'),
  'rest/gift': rest('the gift receiver'),
  'rest/administrators': rest('administrators'),
  'rest/own-token': row(
    'After two users have logged in at the same moment, the page of each calls the REST API with the access token of its own user.',
    'A user orders, or reads, as somebody else.',
    'Threat model, L9',
    'Keep the access token in a local variable of the request, and then in the session. A variable of the module belongs to all requests at once. Keep responses for a user in no cache that is shared by users.',
    'Use req.sso2.api, which has the token of the request.',
  ),
  'rest/expired-token': row(
    "When the user's access token has run out, the page works again or shows a message.",
    'An hour after the login, every such page is an error page.',
    'Interface, "Authentication", "REST API"',
    'On 401, redirect the browser through Identify once: its ticket gives a new access token.',
    'Use req.sso2.api() and catch PlatformApiError.',
  ),
}

export const callTexts: CheckTexts = {
  'calls/valid-tokens': row(
    'In the whole examination, the platform refuses no request token of the site.',
    'The task of each refused call is not done: a logout is lost, or a session is not checked.',
    CLOCK,
    'Sign a new request token for each call, also when a call is tried again. Log each invalid_token with its operation.',
    SENSIBLE,
  ),
}
