/** Texts of the groups `logout` and `session`. */
import type { CheckTexts } from '../check'
import { row, SENSIBLE } from './row'

const LOGOUT = 'Interface, "POST {sso_url}/logout"'
const FORM = 'Send a POST form to the logout route. Do not write a second one.'

export const logoutTexts: CheckTexts = {
  'logout/here': row(
    'A logout ends the session at once, in all tabs and for copies of the cookie, and informs the platform. Other browsers stay logged in.',
    'The next user of the computer, or a thief of the cookie, is logged in.',
    `${LOGOUT}; OWASP ASVS 5, 7.4.1`,
    'Delete this session on the server and no other one, call Logout, and set a new cookie. A logout without a session is no error. The way back from Identify leads to a page, never to the address that logs out. An endpoint of scripts takes the session of the site: a token of its own, which is checked by its signature alone, outlives every logout.',
    FORM,
  ),
  'logout/older-tab': row(
    'A tab that was opened before a new login in another tab can still log out.',
    'The user clicks on "Log out", sees an error and leaves. The next user of the computer is logged in.',
    'Good practice: users have several tabs',
    'Bind the token of a form to the browser (a cookie of its own), and not to the session ID, which changes at each login. Or compare Sec-Fetch-Site and Origin in place of a token.',
    FORM,
  ),
  'logout/identify-afterwards': row(
    'After the logout, the browser goes through Identify, and the user can log in again.',
    'The next login fails with session_terminated.',
    `${LOGOUT}: then redirect through Identify`,
    'Redirect the browser to Identify after the logout.',
    FORM,
  ),
  'logout/by-post-only': row(
    'The logout, also that of all sessions, works by POST only.',
    'Any image or link on any page logs the user out.',
    'OWASP ASVS 5, 3.5',
    'Change app.get to app.post for the address that logs out. A GET of it may show a form with a button.',
    FORM,
  ),
  'logout/foreign-form': row(
    'A form on another site cannot log the user out, nor out of all sessions.',
    'Any page logs the user out.',
    'OWASP ASVS 5, 3.5.1',
    'Accept Sec-Fetch-Site: same-origin only, or check the whole Origin, or a CSRF token that is bound to the session, as for the login form.',
    FORM,
  ),
  'logout/platform-informed-later': row(
    'A logout that the platform missed is reported as soon as it is back, also after an outage longer than the life of a token.',
    'The user stays logged in on all other sites.',
    'Good practice: each outside call has a time limit and a fallback',
    'Queue the facts of the logout (sid or aid, address, User-Agent), and retry it until the platform confirms it. Sign a new request token at each attempt, because a token lives 10 s.',
    SENSIBLE,
  ),
  'logout/landing-in-progress': row(
    'A landing in progress at the moment of the logout does not restore the login.',
    'The user believes to be logged out, and is logged in again.',
    'Threat model, L13',
    'Record the logout of the SSO session, and check it at the end of each landing.',
    SENSIBLE,
  ),
  'logout/all-sessions': row(
    'A logout of all sessions ends every session of the account here and no session of another account, and informs the platform.',
    'A thief stays logged in after the user has changed the password.',
    'Interface, "POST {sso_url}/logoutall"',
    'Keep a list of sessions by account_id, not by name. End all of them, and call Logout all with the account_id as aid.',
    'Use the logout-all route.',
  ),
}

const COOKIE = 'OWASP ASVS 5, 3.3; RFC 6265bis, 4.1.2'

export const sessionTexts: CheckTexts = {
  'session/cookie-flags': row(
    'The session cookie is HttpOnly, SameSite, has a Path, and is Secure over https.',
    'Scripts, other sites or listeners get the session.',
    COOKIE,
    'Set HttpOnly; Secure; SameSite=Lax; Path=/ and no Domain, also for the cookie that binds a browser to its Identify redirect.',
    'Use sso.session. Behind a proxy, set trust proxy.',
  ),
  'session/cookie-content': row(
    'No cookie holds data of the user or the SSO session.',
    'A reader of the cookie knows the user.',
    'Interface, "SSO2", 4',
    'Put a random ID into the cookie, and keep the data on the server.',
    'Use sso.session.',
  ),
  'session/not-fixed-by-attacker': row(
    'A session ID that the browser brings is never taken over by a login.',
    'An attacker plants a cookie, waits for the login, and is the user.',
    'OWASP ASVS 5, 7.2.4',
    'Make a new session ID at each login. Accept no ID that you did not issue. A cookie that cannot be decoded (percent signs, JSON, a signature) is no cookie: catch the error.',
    'Use sso.session, or a session that regenerates.',
  ),
  'session/equal-names': row(
    'What the site keeps for a user is never shown to another user: not one with the same name or e-mail address, nor with a similar account_id, nor in the same browser.',
    'A reader reads and changes what another reader has stored: comments, addresses, orders.',
    'Interface, "SSO2", 3: account_id. OWASP ASVS 5, 8.2.2',
    'Find the data of a user by account_id alone: it never changes, and nobody else gets it. Names are shared by many, and a username or an e-mail address can be given up and taken by another reader. account_id is a text: 0123 and 123 are two accounts, so do not convert it (parseInt, Number, int), and give its column a collation that tells capitals and accents apart. At a login, begin an empty session. Search the code for each query, cache key and file name that has the name or the username.',
    'Use req.sso2.user.accountId as the key.',
  ),
  'session/former-form': row(
    'A form that was opened as one user is not stored for another one who has logged in meanwhile.',
    'The address, order or comment of one user becomes that of the other, who may not notice.',
    'OWASP ASVS 5, 8.2.2',
    'Write a mark of the account into each form, such as a CSRF token that is made of the account_id, and compare it with the user of the session before anything is stored. Do not keep a form over Identify, or compare the account before it is sent again.',
    'Write a hash of req.sso2.user.accountId into the form, and compare it: docs/recipes.md.',
  ),
  'session/shared-connection': row(
    'A response has nothing of an earlier request on the same connection: no cookie, no name.',
    'Behind a proxy, readers share connections: a reader gets the session cookie of another one, and is logged in as that reader.',
    'RFC 9110, 3.3: each request is understood in isolation',
    'Keep what belongs to one request (user, session, cookies to set) in an object that is made for this request, or empty it where each request begins. In Python, a BaseHTTPRequestHandler lives as long as its connection: set its fields in do_GET, not in setup or __init__. In Node.js, set nothing on req.socket.',
    SENSIBLE,
  ),
  'session/shared-cache': row(
    'Pages that show a user may not be stored by shared caches.',
    "A CDN shows one user's page to everybody.",
    'RFC 9111, 3; OWASP ASVS 5, 14.2',
    'Send Cache-Control: private, no-store with each page that shows a user.',
    'Guarded pages have it. Add it to your own pages that show req.sso2.user.',
  ),
  'session/browser-cache': row(
    "The browser's cache does not show a user's page after the logout.",
    'The next user of the computer presses "back" and sees the page.',
    'OWASP ASVS 5, 14.3',
    'Send Cache-Control: no-store with each page that shows a user.',
    'Guarded pages have it. Add it to your own pages that show req.sso2.user.',
  ),
  'session/spellings': row(
    'A page of users is protected under each address that leads to it: /account/, /ACCOUNT, //account.',
    'A visitor opens the page of users without a login, or a cache keeps the page with a name, because one letter of its address is another one.',
    'OWASP ASVS 5, 8.3.1',
    'Protect the handler of the page, or everything below a path by the router that also finds the page. Do not compare req.path, REQUEST_URI or getRequestURI with a text: the router ignores case, the slash at the end, ;parameters or %61, and the comparison does not.',
    'Put sso.requireLogin() into the route of the page.',
  ),
  'session/revalidation': row(
    'A browser that asks whether a page has changed is told so after a login and after a logout.',
    'After the login the page of a visitor stays, with the paywall. After the logout the page with the name stays.',
    'RFC 9110, 8.8.3; OWASP ASVS 5, 14.3',
    'Send Cache-Control: no-store, and neither ETag nor Last-Modified, with a page that shows a user. If you need an ETag, make it of the article and of the session: the date of the article alone is the same for all readers.',
    'Guarded pages have Cache-Control: no-store. Add it to your own pages that show req.sso2.user.',
  ),
  'session/parallel-requests': row(
    'Requests at the same time lose no login, and bring none back after a logout.',
    'Users are logged out by chance, or stay logged in after a logout.',
    'OWASP ASVS 5, 15.4',
    'Never write a whole session back that another request has ended.',
    'Use sso.session.',
  ),
}
