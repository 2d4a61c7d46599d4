/** Texts of the groups `clock`, `headers`, `rest` and `calls`. */
import type { CheckText, CheckTexts } from '../check'
import { row, SENSIBLE } from './row'

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
    'No script of another site can read the pages of a user, or what the scripts of these pages load.',
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
    'A response that sets a cookie, and an error page, may not be stored by shared caches.',
    "A CDN gives one user's cookie to everybody.",
    'RFC 9111, 7.3; RFC 6265bis, 8',
    'Send Cache-Control: private, no-store with Set-Cookie and with each error page: set the header of the pages at the end, by their status. Redirect by 302 or 303, never by 301 or 308: browsers keep those.',
    SENSIBLE,
  ),
  'headers/server-errors': row(
    'In the whole examination, no response is a server error: not to odd requests, and not to browsers that send few headers.',
    'Users see an error page. The sentence names the check whose requests cause it.',
    'OWASP ASVS 5, 16.5.3',
    'Read every header, field, parameter and claim as a value that may be missing. Answer what you cannot read with 400.',
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
  'rest/user': rest('data that the REST API has of the user'),
  'rest/kept-failure': row(
    'A call of the REST API that fails once is made again soon: a failure is kept nowhere.',
    'After one failed call the content is missing for as long as responses are kept, although the platform works.',
    'Good practice: a cache keeps responses, and no failures',
    'Write into the cache after a successful call only. After a failure, show the last response although it is old, or nothing, and try again at the next page, or after some seconds.',
    'Keep what req.sso2.api() returns. It throws when the call fails, so nothing is kept then.',
  ),
  'rest/own-token': row(
    'After two users have logged in at the same moment, the page of each calls the REST API with the access token of its own user.',
    'A user orders, or reads, as somebody else.',
    'Threat model, L9',
    'Keep the access token in a local variable of the request, and then in the session. A variable of the module belongs to all requests at once. Keep responses for a user in no cache that is shared by users.',
    'Use req.sso2.api, which has the token of the request.',
  ),
  'rest/expired-token': row(
    'When an access token has run out, the page works again within seconds: the token of the user, and the one of the site.',
    'An hour after the login, every such page is an error page.',
    'Interface, "Authentication", "REST API"',
    'On 401, forget the token. A token of the user: redirect the browser through Identify once, and use the ticket of its landing, though the user is logged in already. A token of the site: ask for a new one.',
    'Use req.sso2.api() and catch PlatformApiError.',
  ),
}

export const callTexts: CheckTexts = {
  'calls/device': row(
    'Each call about a session has the address and the User-Agent of its browser.',
    'The platform shows users a wrong list of their sessions, and takes attacks for users.',
    'Interface, "Request JWT claims": ipa, uas',
    'Pass ipa and uas of the request to every call, unchanged. Keep them with a logout that is sent later.',
    SENSIBLE,
  ),
  'calls/valid-tokens': row(
    'In the whole examination, the platform refuses no request token of the site.',
    'The task of each refused call is not done: a logout is lost, or a session is not checked.',
    CLOCK,
    'Sign a new request token for each call, also when a call is tried again. Log each invalid_token with its operation.',
    SENSIBLE,
  ),
}
