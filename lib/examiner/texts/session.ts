/** Texts of the groups `ticket` and `status`. */
import type { CheckTexts } from '../check'
import { row, SENSIBLE } from './row'

const TICKET = 'Interface, "SSO2", 3'
const OPTION_TOKEN = 'Set tokenUrl and apiUrl. A custom exchangeTicket or loadUser must throw when it fails.'

export const ticketTexts: CheckTexts = {
  'ticket/once': row(
    'The ticket of a landing is exchanged once.',
    'A second exchange fails, and the user may see an error.',
    TICKET,
    'Accept each landing token once, across all processes: note the decoded signature before the exchange, in one step that fails if it is noted already (Redis: SET key 1 EX 20 NX; SQL: a unique column). Note the token, not its SSO session: the next landing of the same SSO session is right.',
    SENSIBLE,
  ),
  'ticket/refused': row(
    'A ticket that the platform refuses leaves the visitor anonymous, with the page.',
    'Users see an error page.',
    TICKET,
    'Treat a refused ticket as an anonymous visit, and wait some seconds before the next Identify redirect. Set the user of the session and the sign that it is logged in together, and only after the REST API has named the user.',
    OPTION_TOKEN,
  ),
  'ticket/others-after-refusals': row(
    'Refused tickets and access tokens of some users keep no other user from logging in.',
    'A few users with old tickets, or an attacker with one, stop the logins of all.',
    'Good practice: a refusal is an answer, and no outage',
    'Count as failures of the platform: no response in time, status 5xx, and text that is no JSON. Status 400, 401, 403 or 404 is an answer about one user: pass it on to the caller, who renews the token or shows a message.',
    OPTION_TOKEN,
  ),
  'ticket/login-afterwards': row(
    'Soon after the token endpoint works again, the user is logged in.',
    'The user stays anonymous until the session ends.',
    'Interface, "Landing page"',
    'Mark the session as "login pending" and check it again after some seconds. The time of this check is fixed: a page that is opened meanwhile must not move it on, or a user who reads on is never checked.',
    SENSIBLE,
  ),
  'ticket/right-user': row(
    "With many logins at once, each browser shows its own ticket's user.",
    "Users see other users' names and data.",
    'Threat model, L9; RFC 9700, 4.5',
    'Keep the token, the ticket and the user of one request in local variables.',
    OPTION_TOKEN,
  ),
  'ticket/login-form': row(
    'If the user cannot be loaded after a right password, the login form says "not now", and the user can log in as soon as it works again.',
    'Users see an error page after a right password, or cannot log in any more in this browser.',
    'Interface, "POST {sso_url}/authenticate"',
    'Catch the failures of the ticket exchange and of the REST API also after Authenticate, respond 503 with the form, and send the browser through Identify: its SSO session is logged in by now.',
    OPTION_TOKEN,
  ),
  'ticket/user-without-id': row(
    'A user response without an account_id leaves the visitor anonymous.',
    'All such users are logged in as one account, for example "undefined", and share its data.',
    'Interface, "SSO2", 3',
    'Check that account_id is a text that is not empty before the login. Do not turn the value into a text (String(…), str(…)).',
    OPTION_TOKEN,
  ),
}

const STATUS = 'Interface, "POST {sso_url}/sessionstatus"'
const FRESH = 'Leave recheckSeconds at 360.'
const FRESH_PAGE = 'Protect the page with sso.requireLogin({ fresh: true }).'

export const statusTexts: CheckTexts = {
  'status/young': row(
    'A session that has just begun causes no status check.',
    'Every page is slow, and the platform may limit the site.',
    `${STATUS}; "Limits": about every 6 minutes`,
    'Store the time of the last check, and check when it is older than six minutes.',
    FRESH,
  ),
  'status/old': row(
    'An old session causes one status check before its page is shown, with the right claims. The next pages cause none.',
    'Users who logged out elsewhere are still shown.',
    STATUS,
    'If the last check is older than six minutes, call Session Status and wait for its response (await) before you make the page. Send sid, lks, and the address and User-Agent of the browser. Afterwards note the time of this check in the session.',
    FRESH,
  ),
  'status/retry-pause': row(
    'After a status check that failed, the site waits some seconds before it asks for this session again.',
    'Each page of each user waits for a platform that does not respond, and the platform gets its full load while it tries to recover.',
    'Interface, "Limits"',
    'Note the time of each attempt before the call, also of one that fails: next check = now + 5 seconds. Do not write it only after a response that verifies.',
    FRESH,
  ),
  'status/ten-at-once': row(
    'Ten pages of an old session at once cause one status check.',
    'The platform gets many times the load that it asks for.',
    'Interface, "Limits"',
    'Take a lock per session. A request that gets the lock reads the session again, and looks whether the check is still due: the request before it has noted the time. The other requests then use the stored result.',
    FRESH,
  ),
  'status/login-elsewhere': row(
    'A user who logs in on another site is logged in here within six minutes.',
    'Single sign-on does not work for open sessions.',
    `${STATUS}: anon to loggedin`,
    'Send lks anon for a visitor who is not logged in. If the response has sts loggedin, exchange its ticket at and log the user in before the page is made.',
    FRESH,
  ),
  'status/logout-elsewhere': row(
    'A user who logs out on another site is anonymous here within six minutes.',
    'The next user of a shared computer is shown the account.',
    `${STATUS}: change to terminated`,
    'Check an old session before every response that depends on the user, also for POST and fetch, and in front of the routes for scripts (/api), which answer 401 instead of a redirect. Make one check at a time for each session, not for the whole site. Each page waits for the check of its own session: note the time of the check after its response. If sts is terminated, delete the session of your site and redirect to Identify.',
    FRESH,
  ),
  'status/logout-while-reading': row(
    'A user who logs out on another site is anonymous here within six minutes, also while loading pages.',
    'The next user of a shared computer is shown the account, for as long as pages are loaded.',
    `${STATUS}: change to terminated; "Limits": about every 6 minutes`,
    'Keep the time of the last verified response of the platform. Only such a response may change the time, never a request of the browser. A check is due after six minutes (360 000 ms), and not sooner.',
    FRESH,
  ),
  'status/session-not-found': row(
    'A removed SSO session ends here, with at most three Identify redirects.',
    'The user gets an endless redirect, or stays logged in for ever.',
    'Interface, "SSO2 errors": session_not_found',
    'Treat err session_not_found like sts terminated: delete the session of your site and redirect to Identify.',
    FRESH,
  ),
  'status/visitor-session-ended': row(
    'A visitor whose SSO session has ended goes through Identify once, and gets a new one.',
    'The next login of the visitor fails with session_terminated or session_not_found.',
    `${STATUS}: change to terminated (from anon or loggedin)`,
    'Treat sts terminated and err session_not_found alike for visitors and for logged-in users: delete the session of your site and redirect to Identify.',
    FRESH,
  ),
  'status/other-account': row(
    "When another account is logged in, a page never shows the first user's name.",
    "One user sees another user's data.",
    'Threat model, L10',
    'If sts is terminated, delete the session of your site before the page is made, with everything that it has of the user. The next landing begins a new one.',
    FRESH,
  ),
  'status/sensitive-page': row(
    'A sensitive page asks the platform at each request whether its user is still logged in.',
    'Someone at the computer of a user who has logged out on another site reaches payments and addresses for six more minutes.',
    'Threat model, S11; OWASP ASVS 5, 7.4',
    'Call Session Status before each sensitive page, however young the last check is.',
    FRESH_PAGE,
  ),
  'status/sensitive-unverified': row(
    'A sensitive page is served only if the platform verifies its user.',
    'While the platform fails, someone at the computer of a user who has logged out on another site reaches payments and addresses.',
    'Threat model, S11; OWASP ASVS 5, 7.4',
    'Serve a sensitive page only on a verified response of Session Status that says loggedin for this SSO session. On any other response, and on none, answer 503.',
    FRESH_PAGE,
  ),
  'status/wrong-signature': row(
    'A response with a wrong signature changes nothing.',
    'An attacker between site and platform logs in under any name.',
    'Interface, "SSO2", 1',
    'Verify each response like a landing token.',
    SENSIBLE,
  ),
  'status/wrong-session': row(
    'A response about another session changes nothing.',
    'A mixed-up response logs the browser in as the user of another session.',
    'Threat model, L8; RFC 8725, 3.8',
    'Compare sid in the response with the one that was sent. Never write sid of a response into the session: only the landing page gives a session its sid.',
    SENSIBLE,
  ),
  'status/wrong-audience': row(
    'A response for another API client changes nothing.',
    'A response for another site is accepted.',
    'Interface, "Session Token": aud',
    'Compare aud with your client ID.',
    SENSIBLE,
  ),
  'status/invalid-token': row(
    'A response with err invalid_token changes nothing: it says that the request was wrong, not that the session has ended.',
    'One refused request, as after a change of the secret or with a wrong clock, logs every user out.',
    'Interface, "SSO2 errors": invalid_token',
    'End the session only if sts is terminated or err is session_not_found. Any other err is no response: keep the session and its times as they are.',
    SENSIBLE,
  ),
  'status/expired': row(
    'An expired response changes nothing.',
    'A recorded response is used again.',
    'Interface, "Session Token": exp',
    'Check exp of each response.',
    SENSIBLE,
  ),
}
