/** Texts of checks about what users type, what sites write into pages and logs, and old sessions. */
import type { CheckTexts } from '../check'
import { row, SENSIBLE } from './row'

const FORM = 'Use the built-in login page, or req.sso2.login() with its result.'
const ESCAPE =
  'Escape each text where it becomes HTML: & < > " and \' as &amp; &lt; &gt; &quot; &#39;. Most template engines do it, unless a value is marked as safe or raw.'
const STALE =
  'Interface, "POST {sso_url}/sessionstatus": before Authenticate or Logout when session information is stale'
const NEW_ID =
  'Each login begins a session under a new random ID, however it comes: by the form, by the landing page, by a status check. Delete the record of the old ID.'

export const inputTexts: CheckTexts = {
  'landing/new-session-id': row(
    'A login that Identify brings begins a new session ID.',
    'An attacker who planted a session ID is logged in as the user, as soon as the user passes through Identify.',
    'OWASP ASVS 5, 7.2.4; RFC 9700, 4.7; threat model, L2',
    NEW_ID,
    'Use sso.session.',
  ),
  'status/new-session-id': row(
    'A login that a status check brings begins a new session ID.',
    'An attacker who planted a session ID is logged in as the user, as soon as the user logs in on another site.',
    'OWASP ASVS 5, 7.2.4; threat model, L2',
    `${NEW_ID} Or end the session when Session Status says loggedin for an anonymous one, and redirect through Identify.`,
    'Use sso.session.',
  ),
  'login/stale-session': row(
    'A login form that was open for longer than six minutes causes a status check before Authenticate.',
    'The login fails with session_terminated or session_not_found, though name and password are right. Or the browser is logged in on another account by now.',
    STALE,
    'Check the age of the session in the handler of the form as on each page. If it is older than six minutes, call Session Status before Authenticate.',
    FORM,
  ),
  'logout/stale-session': row(
    'A logout of a session older than six minutes causes a status check before Logout.',
    'The site ends an SSO session without knowing what it has become: another user may be logged in on it by now.',
    STALE,
    'Check the age of the session in the handler of the logout as on each page. If it is older than six minutes, call Session Status before Logout. End the session of the site in any case.',
    'Send a POST form to the logout route.',
  ),
  'login/any-password': row(
    'Username and password arrive at the platform exactly as they were typed.',
    'Users whose password has a space, a plus sign or a letter such as ä cannot log in, and their accounts are frozen after some tries.',
    'Interface, "POST {sso_url}/authenticate": pwd; OWASP ASVS 5, 6.2.8',
    'Decode the form once (application/x-www-form-urlencoded, UTF-8) and change nothing: no trim, no case, no length limit below 128, no escaping, no second decoding.',
    FORM,
  ),
  'login/escaped-input': row(
    'What a visitor types or puts into an address never becomes markup of a page, and ends in no server error.',
    "An attacker's link or form runs a script in your page, reads what users type into the login form, and acts as the user.",
    'OWASP ASVS 5, 1.2.1',
    `${ESCAPE} Read a missing field, or a list, as an empty text.`,
    FORM,
  ),
  'login/log-injection': row(
    'A username with a line break does not begin a line of the log.',
    'An attacker writes lines into the log that look like logins of others, and hides traces.',
    'OWASP ASVS 5, 16.4.1',
    'Log typed texts as JSON, or replace control characters. Better: log no username at all.',
    FORM,
  ),
  'headers/stack-trace': row(
    'No page shows a stack trace.',
    'An attacker learns files, versions and the place of a fault.',
    'OWASP ASVS 5, 16.5.1',
    'Add a handler for all errors that logs the error and shows a page without details. Switch the debug mode of the framework off.',
    'Set NODE_ENV=production, or add an error handler.',
  ),
  'session/escaped-name': row(
    'The name of a user never becomes markup of a page.',
    "A user with a name such as <script src=…> runs scripts in the pages of everybody who sees the name. Names such as O'Neil break pages.",
    'OWASP ASVS 5, 1.2.1 and 1.2.3',
    `${ESCAPE} In a script, JSON is not enough: write < as \\u003c.`,
    'The built-in pages do this. Escape req.sso2.user.name in your own pages.',
  ),
  'session/foreign-cookies': row(
    'The site finds its session cookie among the cookies of others.',
    'Users are logged out as soon as an advertisement sets such a cookie.',
    'RFC 6265bis, 5',
    'Split the Cookie header at semicolons, cut each part at its first =, and compare whole names. Leave out the cookie that cannot be read, and keep the others: a reader that is strict, such as SimpleCookie of Python, drops all cookies because of one.',
    'Use sso.session.',
  ),
  'session/random-id': row(
    'The session ID, and the cookie that binds a browser to its Identify redirect, are random and too long to guess.',
    'An attacker guesses the IDs of users who log in, and is those users.',
    'OWASP ASVS 5, 7.2.3',
    'Take 16 random bytes or more from the secure generator of the system: crypto.randomBytes, secrets.token_urlsafe, random_bytes, SecureRandom. No counter, no time, no UUID of version 1, no Math.random, no hash of the user.',
    'Use sso.session.',
  ),
  'session/tokens-stay-on-server': row(
    'Passwords, access tokens, Session Tokens, SSO session IDs and the client secret are in no page, cookie or redirect of the site.',
    'A script or a reader of the page calls the REST API as the user, or makes tokens under any name.',
    'Interface, "SSO2", 4; RFC 9700, 4.3; OWASP ASVS 5, 10.1.1',
    'Keep tokens in the session on the server. Call the REST API from the server, and send only the fields that the page shows.',
    SENSIBLE,
  ),
  'calls/user-address': row(
    'ipa is the address of the browser, and not what the browser writes into a header.',
    'The platform limits and logs the wrong address: an attacker hides behind any address, or all users share one and are limited together.',
    'Interface, "Request JWT claims": ipa, the IP address of the user; OWASP ASVS 5, 15.3.4',
    'Without a proxy, take the address of the connection. Behind n proxies, take the n-th entry of X-Forwarded-For from the right. Never take the first one: the browser can write it.',
    'Set trust proxy to the number of your proxies, and not to true.',
  ),
  'calls/secrets-in-output': row(
    'The output of the site has no password, no token, no session cookie and no client secret, also when something fails.',
    'A reader of the log is logged in as the user, or makes tokens under any name.',
    'Interface, "POST {sso_url}/authenticate": keep the JWT out of server logs; OWASP ASVS 5, 16.2.5',
    'Log the name of the operation and its outcome, never the token, the body, the form or the Cookie header, also not in the message of an error. In an access log, write the path without the query.',
    'Log addresses by their path: req.path, not req.originalUrl.',
  ),
}
