/** Texts of the groups `login` and `outage`. */
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
    'Call Authenticate once, exchange the ticket, and load the user. ipa and uas must be strings: send an empty one if the browser sends no User-Agent.',
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
    "If Sec-Fetch-Site is there, accept same-origin only, and not same-site, which pages of sibling domains send. If it is not, compare Origin as a whole with that of your site: origin === 'https://your.site', not startsWith, endsWith or includes. Or check a CSRF token that is bound to the session. Log in by POST only.",
    FORM,
  ),
  'login/double-submit': row(
    'Two clicks on the button send the password once, and other pages of the browser do not wait for it.',
    'Two wrong attempts are counted, and accounts are frozen sooner. Or all tabs of the user hang while the platform is slow.',
    AUTHENTICATE,
    'Take a lock per session for the login alone, and share the result. Hold no lock of the whole session while the site calls the platform: in PHP, call session_write_close() before the call, and session_start() after it.',
    FORM,
  ),
  'login/new-name': row(
    'A user whose name has changed is shown with the new one after the next login, also with a long name in other scripts.',
    'Users who have married or corrected their name see the old one for ever, or users with long or foreign names cannot log in.',
    'Interface, "SSO2", 3',
    'Write name and address of the user at each login, not only when the user is created (first_or_create, setOnInsert). Put no name into a cookie or header: they take a few ASCII letters only, and browsers drop cookies beyond 4096 bytes.',
    FORM,
  ),
  'login/without-email': row(
    'Users without an e-mail address can log in, and each is shown as himself.',
    'All users without an address are one user, with one history and one set of comments.',
    'Interface, "SSO2", 3: account_id',
    'Find users by account_id alone. An address may be missing, may change, and may be shared: let its column be empty, and not unique.',
    FORM,
  ),
  'login/second-tab': row(
    'A login form of a second tab that is sent after a login in the first one leaves the user logged in.',
    'Users who have the site open in two tabs are logged out, or see an error page.',
    AUTHENTICATE,
    'Take the form like that of any logged-in session: call Authenticate with its sid, or redirect the user who is logged in already.',
    FORM,
  ),
  'login/other-visitors': row(
    'Wrong passwords for one account do not keep the users of other accounts from logging in.',
    'Anybody closes the login of your site for all readers with a few wrong passwords.',
    'Threat model, F3; OWASP ASVS 5, 6.3.1',
    'Count failures by username and by address, never in one variable for the whole site. An err of Authenticate, such as invalid_credentials or account_frozen, is a response: do not count it as a failure of the platform.',
    FORM,
  ),
  'login/same-username': row(
    'While a user logs in, another browser with the same username and a wrong password is not logged in.',
    'Whoever knows a username, and sends it at the right moment, is logged in as the user.',
    'Threat model, L9',
    'Share the result of a login in progress within one session only, and only for the same username and password: const key = hash(sessionId + username + password).',
    FORM,
  ),
  'login/guesses-at-once': row(
    'A limit of login attempts also holds for attempts that come at the same moment.',
    'A stranger guesses passwords without the limit, and freezes the account for 12 hours.',
    'Threat model, F3; OWASP ASVS 5, 6.3.1',
    'Count the attempt before the call of Authenticate, in one atomic step, and give it back after the right password. A count after the answer lets all pass that come meanwhile.',
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
    'Never repeat Authenticate, neither in the login nor in the function that sends all calls, nor by a setting of the HTTP client. Ask Session Status for the result.',
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
  'login/way-back': row(
    'A login ends at the page where the user began, with its whole query, also if it succeeds at the second try.',
    'Users end at another page than the one they came from, and have to look for their page again.',
    `${AUTHENTICATE}; good practice: the user ends where he began`,
    'Encode the address of the page where it becomes a parameter of a link (encodeURIComponent, then HTML). Take the return address from the form that was sent, check it as at the first try, and write it into the form that you show again. Take it from Referer only when the form is first opened: after a mistake, Referer names the form itself. A form that is shown after a POST has no query of its own. Take it along through Identify too.',
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
    'Ask Session Status, or end the session of your site and redirect to Identify, and show the user whom the platform has. Or offer a logout with the message. No try with this session can ever succeed, so "try again" is no answer.',
    'The built-in login page links to the logout. On a page of your own, do so where req.sso2.login() returns session_already_logged_in_on_another_account.',
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
  null: 'responds with JSON null',
  empty: 'responds with an empty body',
  'status-429': 'responds 429 with a date in Retry-After',
  'status-502': 'responds 502',
  huge: 'responds with 20 MB',
  redirect: 'responds with a redirect',
  drip: 'sends a body byte by byte, without an end',
  'wrong-signature': 'signs with another secret',
  'wrong-session': 'responds about another session',
}

const page = (does: string): CheckText =>
  row(
    `While Session Status ${does}, users with an old session get their pages within 5 seconds, without a redirect to the platform.`,
    'The whole site is down when the platform is.',
    FAULTS,
    'Give each call of the platform a time limit of 2 seconds in total: from the connection to the last byte of the body, not for each read. Catch every failure of the call, keep the session, and serve the page from it.',
    'Leave timeoutMs and graceSeconds at their defaults.',
  )
const pageWithWrongResponse = (does: string): CheckText => ({
  ...page(does),
  effect: 'One response that cannot be verified logs users out, or shows them an error page.',
  fix: 'Treat a response that cannot be read or verified as no response: keep the session as it is, serve the page, and ask again later. Catch each error of reading and verifying: JSON may be null, and null.t is an error of its own (in PHP a TypeError, which catch (Exception) does not catch: catch Throwable).',
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
      'Catch the failure, store an anonymous session, and redirect to r. Log nobody in without an account_id, and repeat no exchange: a ticket is good once, and an HTTP client may repeat POST by its settings. Try the login again later, by a new Identify redirect.',
      HOOKS,
    )

const cellsOf = (operation: string, text: (does: string) => CheckText): CheckTexts =>
  Object.fromEntries(Object.entries(failures).map(([name, does]) => [`outage/${operation}-${name}`, text(does)]))

export const outageTexts: CheckTexts = {
  ...cellsOf('page', page),
  ...Object.fromEntries(
    ['wrong-signature', 'garbage', 'null', 'empty'].map((name) => [
      `outage/page-${name}`,
      pageWithWrongResponse(String(failures[name])),
    ]),
  ),
  'outage/page-status-429': {
    ...page(String(failures['status-429'])),
    effect: 'When many readers come, users lose their logins, and each of them causes four calls more.',
    fix: 'Status 429 says nothing about the user: keep the session, serve the page, and ask again later. Retry-After is a number of seconds or a date: Number(date) is NaN, int(date) throws. Take what is neither, or far away, as some seconds.',
  },
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
  'outage/health-page': row(
    'While the platform fails, the health page of the site still responds 200.',
    'Load balancer and container manager take all nodes out: the site is down for all readers, also for those who need no login.',
    FAULTS,
    'Let the health page say whether this process serves requests, and ask no other system. Report the state of the platform at another address, or in the text of the page.',
    'Use sso.health() for monitoring, and not for the load balancer.',
  ),
  'outage/one-slow-user': row(
    'While a call about one user is slow, others do not wait: not for pages, not for their own status checks and logins.',
    'One slow response of the platform stops the site for everybody.',
    FAULTS,
    'Serve requests at the same time (threads, or calls that do not block). Look at each lock, queue and transaction that is held while the site calls the platform (lock, mutex, synchronized, with self.lock): make it one for each session, found by the session ID, and never one for all.',
    SENSIBLE,
  ),
  'outage/grace-period': row(
    'After the grace period, a user who cannot be checked is not shown any more, and can still log out.',
    'A user who has logged out on another site stays logged in here as long as the platform is down.',
    'Threat model, S11',
    'Keep the time of the last verified response about this session without an err. Only such a response moves the time. Note the time of the next try apart from it: a failed check moves that one only. After the grace period, treat the user as anonymous, but keep the session: a logout ends it, and informs the platform.',
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
