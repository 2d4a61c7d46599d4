/** Texts of the groups `identify` and `landing`. */
import type { CheckText, CheckTexts } from '../check'
import { row, SENSIBLE } from './row'

const IDENTIFY = 'Interface, "Identify: browser redirect"'

export const identifyTexts: CheckTexts = {
  'identify/first-visit': row(
    'A first page load goes through Identify once and ends at its own address, query included.',
    'Users lose the page or the search that they asked for, or wait for needless redirects.',
    `${IDENTIFY}: r is where the user should end`,
    'Look at both places. Where r is built: put the full address of the request into r, percent-encoded once. At the landing page: your framework has decoded r, so redirect to it as it is. A landing page that decodes r once more turns %20 into a space and %2B into a plus, and then refuses the address or loses its query.',
    SENSIBLE,
  ),
  'identify/request-token': row(
    'The request token has the header HS256 and JWT, the six documented claims, and lives 10 seconds.',
    'The platform refuses the token, or extra claims tell every browser about your system.',
    'Interface, "Request JWT claims, common to all operations"',
    'Sign cid, nbf, iat, exp, iss and aud with HS256. exp is nbf + 10. Add nothing else.',
    SENSIBLE,
  ),
  'identify/fresh-token': row(
    'Each redirect to Identify has a request token that was made for it.',
    'On a slow connection the token has expired when the browser arrives at the platform: some users get an error instead of the page, by chance. Many browsers share one token.',
    'Interface, "Request JWT claims, common to all operations"; "Limits": tokens live 10 seconds',
    'Sign a new token where the redirect is written, with Math.floor(Date.now() / 1000) as its time. Keep no token in a variable, a field of the client, a page or a cache. If each redirect has a new token, set the clock of the site right (NTP).',
    SENSIBLE,
  ),
  'identify/return-address': row(
    'The return address r is the page that the browser asked for.',
    'Users end on another page than the one that they asked for, or on a page of an attacker who has reached a cache with a forged header.',
    `${IDENTIFY}: r`,
    'Build r from the configured origin of the site, never from Host or X-Forwarded-Host, and from the path and query of the request, as they are. Send Identify no other parameter than t and r.',
    'Set siteUrl to the public address of the site.',
  ),
  'identify/navigations-only': row(
    'Only page loads by people go through Identify: no scripts, images, fetch calls, POSTs, HEADs, prefetches and bots.',
    'Scripts and images break, forms lose what was typed, and search engines see redirects instead of pages.',
    `${IDENTIFY}: the site redirects the user's browser`,
    'Redirect GET requests with Sec-Fetch-Dest: document only. Leave out prefetches (Sec-Purpose contains prefetch, such as "prefetch;prerender") and known bots, not only those of one company and not each name with bot inside (CUBOT is a phone). Accept must name text/html: */* is what scripts and images send. Send Cache-Control: no-store with the answer to a prefetch.',
    'Leave shouldIdentify at its default.',
  ),
  'identify/without-cookies': row(
    'A browser that refuses cookies is served within three Identify redirects.',
    'Users who block cookies see "too many redirects" instead of the page.',
    'Interface, "Preconditions for SSO2": the browser must allow cookies',
    'Count the redirects in the address, or mark it. After the second one, serve the page without a session.',
    SENSIBLE,
  ),
  'identify/shared-address': row(
    'An address at which a browser without cookies has ended leads other readers through Identify, like any other.',
    'Readers share and bookmark the address with its mark, and whoever opens it sees this page as a visitor: subscribers see the paywall.',
    `${IDENTIFY}: use when the site has no Session Token`,
    'Put the time into the mark that stops redirects without end (for example ?sso-tried=1732800000), and take no notice of a mark that is older than some seconds. Or redirect once more, to the address without the mark.',
    SENSIBLE,
  ),
  'identify/once': row(
    'While the session lives, no second Identify redirect happens.',
    'Every page load is slow, and the platform carries needless load.',
    `${IDENTIFY}: use when the site has no Session Token`,
    'Store the result of Identify in the session, also when the visitor is anonymous.',
    'Mount app.use(sso) once, before all pages, with one session store.',
  ),
  'identify/no-loop': row(
    'If the platform refuses each new session, ticket or access token, a page ends, and does not redirect through Identify for ever.',
    'Users see "too many redirects" instead of the page, and the platform carries the load of all of them.',
    'Good practice: redirects that a failure causes are counted',
    'Count the redirects in a cookie of a minute, or in the address. Begin again only when a page was served: neither the landing page nor a new session proves that the next page works. After some redirects, show a page that says "not now".',
    SENSIBLE,
  ),
}

const VERIFY_HERE = 'The landing page of app.use(sso) verifies all of this. Do not parse t yourself.'
const FORGED = 'An attacker who makes such a token is logged in under any name.'
const token = (good: string, source: string, fix: string, effect = FORGED): CheckText =>
  row(good, effect, source, fix, VERIFY_HERE)
const OLD = 'A landing address in a log, in a history or in a link logs in long after it was made.'
const RFC = 'RFC 8725, 3.1; OWASP ASVS 5, 9.1'

export const landingTexts: CheckTexts = {
  'landing/other-secret': token(
    'A token that is signed with another secret is refused.',
    RFC,
    "Verify the signature with the client's secret before reading any claim.",
  ),
  'landing/partial-signature': token(
    'A signature that is right in part, cut, empty or made for other claims is refused.',
    'RFC 8725, 3.3; RFC 7515, 5.2',
    'Compare all 32 bytes of the signature with your own HMAC of header and claims, by a function for this task: crypto.timingSafeEqual, hmac.compare_digest, hash_equals, MessageDigest.isEqual. Compare the lengths first: timingSafeEqual throws if they differ.',
  ),
  'landing/other-key': token(
    'A token that names its own key, or is signed with an empty or guessed key, is refused.',
    'RFC 8725, 3.10 and 3.5; OWASP ASVS 5, 9.1.3',
    'Take the key from your configuration only, never from the header of the token (jwk, jku, kid), and have no default for it.',
  ),
  'landing/alg-none': token(
    'A token without a signature (alg none, in any spelling) is refused.',
    RFC,
    "Name the algorithm where you verify, and accept no other. In jsonwebtoken: { algorithms: ['HS256'] }.",
  ),
  'landing/alg-hs512': token(
    'A token with another algorithm than HS256 is refused.',
    RFC,
    "Compare alg with HS256, and not only its family (HMAC). Name the algorithm where you verify, and accept no other. In jsonwebtoken: { algorithms: ['HS256'] }.",
  ),
  'landing/no-typ': row(
    'A token whose header has no typ JWT is refused.',
    'Tokens that were made for another purpose may be accepted.',
    'Interface, "SSO JSON Web Token (JWT)"; RFC 8725, 3.11',
    'Compare typ with JWT.',
    VERIFY_HERE,
  ),
  'landing/wrong-audience': token(
    'A token for another API client is refused.',
    'RFC 8725, 3.9; interface, "Session Token": aud',
    'Compare the whole aud with your client ID by ===: includes, indexOf and strpos find parts of it. A missing aud is wrong.',
  ),
  'landing/wrong-issuer': token(
    'A token from another issuer than the SSO system is refused.',
    'RFC 8725, 3.8; interface, "Session Token": iss',
    'Compare the whole iss with the identifier of the SSO system. A missing iss is wrong.',
  ),
  'landing/expired': token(
    'A token that has expired two minutes ago, or has no exp, is refused.',
    'Interface, "Session Token": exp; OWASP ASVS 5, 9.2.1',
    'exp is the second at which the token ends. Refuse the token 5 seconds after exp, and if there is no exp. In jsonwebtoken: clockTolerance: 5 (seconds, not milliseconds), and no ignoreExpiration. In PyJWT: options={"require": ["exp", "nbf", "iss", "aud"]}. The age by iat does not replace exp.',
    OLD,
  ),
  'landing/not-yet-valid': token(
    'A token that begins in two minutes is refused.',
    'Interface, "Session Token": nbf; OWASP ASVS 5, 9.2.1',
    'nbf is the second at which the token begins. Refuse the token until 5 seconds before nbf. In jsonwebtoken: clockTolerance: 5.',
    'A wrong clock goes unnoticed, and a token lives longer than its ten seconds.',
  ),
  'landing/second-site-token': token(
    'A token of the second site of the publisher is refused.',
    'RFC 8725, 3.9; OWASP ASVS 5, 9.2.3',
    'Compare aud with your client ID. Give each site its own secret.',
  ),
  'landing/oversized': row(
    'A token of more than 8,000 characters is refused.',
    'An attacker makes the site decode large texts.',
    'OWASP ASVS 5, 4.1; threat model, T14',
    'Refuse long tokens before verifying them.',
    VERIFY_HERE,
  ),
  'landing/not-canonical': row(
    'A token whose signature is spelt in another way is refused.',
    'Lists of used tokens can be passed with a second spelling of the same token.',
    'RFC 7515, 2 (base64url)',
    'Decode each part and compare its encoding with the text.',
    VERIFY_HERE,
  ),
  'landing/no-ticket': token(
    'A logged-in token without a ticket logs no user in.',
    'Interface, "Rules for at"',
    'Log in only after the ticket exchange has named the user.',
  ),
  'landing/anonymous-with-ticket': token(
    'A token logs no user in if its sts is not loggedin, or if it has an err, even if it has a ticket.',
    'Interface, "Rules for at"',
    'Read sts and err first. Exchange the ticket at only if sts is loggedin and err is null.',
  ),
  'landing/unknown-claim': token(
    'A token with a claim that the interface does not have is accepted.',
    'RFC 7519, 4',
    'Ignore claims that you do not know.',
    'All logins fail as soon as the platform adds a claim to its tokens.',
  ),
  'landing/request-token': token(
    'A request token of the site itself is not accepted at the landing page.',
    'RFC 8725, 3.12',
    'Check iss and aud: they tell the two directions apart. Require sid and sts, and name each value of sts: what is not loggedin is not yet anon.',
  ),
  'landing/other-account': row(
    'A landing with a token of another account replaces the user who is logged in.',
    'A user who has changed the account on another site is still shown, and works, as the first one. With a session that has ended, the page may redirect to Identify for ever.',
    'Interface, "Landing page"; threat model, L10',
    'Let the landing page compare sid and user of the token with those of the session, and begin a new session if they differ. "Somebody is logged in" is no reason to skip the token.',
    SENSIBLE,
  ),
  'landing/anonymous': row(
    'An anonymous visitor lands, and sees the page without a user. A landing whose token has err begins no session, and its visitor can log in.',
    'Visitors get an error instead of the page.',
    'Interface, "Landing page"',
    'If err is null and sts is anon, store the anonymous session and redirect to r. If there is an err, store nothing.',
    SENSIBLE,
  ),
  'landing/parameters': row(
    'Missing, doubled and odd parameters cause no server error.',
    'Any visitor can fill your log with errors, or confuse the landing page.',
    'OWASP ASVS 5, 15.3.7',
    'Accept exactly one t and at most one r, both texts.',
    SENSIBLE,
  ),
  'landing/login-csrf': row(
    'A landing address that another browser has got logs no user in.',
    "An attacker sends a link to a user. The user then works in the attacker's account: payments, addresses and searches end up there.",
    'RFC 9700, 4.7 (CSRF); OWASP ASVS 5, 10.2.1; threat model, L1',
    'Set a random cookie before the Identify redirect. Put a MAC of it into r. Accept the token only if both are there and fit: a missing or empty value is refused too.',
    SENSIBLE,
  ),
  'landing/replay-after-logout': row(
    'After a logout, the old landing address logs no user in.',
    'The next user of a shared computer presses "back" and is logged in.',
    'RFC 9700, 4.3; threat model, L3',
    'Accept each token once. Keep its signature until it expires.',
    SENSIBLE,
  ),
  'landing/replay-elsewhere': row(
    'A used landing address logs in no second browser.',
    'Addresses in proxy logs and histories log an attacker in.',
    'RFC 9700, 4.5; threat model, L3',
    'Bind the flow to the browser by a cookie, and accept each token once.',
    SENSIBLE,
  ),
  'landing/open-redirect': row(
    'A return address on another site is never followed.',
    "An attacker's link begins at your site and ends at a copy of your login page.",
    'RFC 9700, 4.11.1; OWASP ASVS 5, 3.7.2; threat model, R1',
    "Parse r: const url = new URL(r, 'https://your.site'). Go on only if url.origin is the origin of your site. Redirect to url.pathname + url.search, as they are: do not decode them after the check.",
    SENSIBLE,
  ),
  'landing/prefetch': row(
    'HEAD requests and prefetches of the landing page use nothing up.',
    'Link scanners and preloading browsers use up the login of the user.',
    'Threat model, L12',
    'Handle GET page loads only at the landing page. A Sec-Purpose that contains prefetch is no page load.',
    SENSIBLE,
  ),
  'landing/anonymous-tab': row(
    'A user who logs in in one tab stays logged in when another tab comes back from Identify as a visitor.',
    'Users who open two tabs and log in are logged out by the slower tab.',
    'Interface, "SSO2 session states": loggedin never becomes anon',
    'When the token has sts anon, look at the session that the browser has by now. If it is logged in with the same sid, the token is older than the login: change nothing, and redirect to r.',
    SENSIBLE,
  ),
  'landing/two-tabs': row(
    'Two tabs that are redirected to Identify at the same time both land, each at its own page.',
    'Users who open several pages at once, or whose browser opens its tabs again, are not logged in.',
    'Threat model, decision 1: any number of tabs can be in flight',
    'Let no redirect to Identify overwrite what an earlier one needs. Give the browser its random cookie once, and keep the cookie if it is there. Keep the page to return to in r, not in the session. If you keep a state for each tab, keep more than five.',
    SENSIBLE,
  ),
  'landing/leaves-nothing': row(
    'Neither the token nor the ticket nor the session ID stays in an address, a page, a cookie or a log line.',
    'A reader of the history, a log or the cookie has the session.',
    'Interface, "SSO2", 4; RFC 9700, 4.3',
    'Keep Session Tokens in the server-side session. Redirect away from the landing address. In an access log, write the path without the query, because t of the landing address is a token.',
    SENSIBLE,
  ),
}
