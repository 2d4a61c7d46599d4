/** Texts of the log. Each line begins with a heading of docs/troubleshooting.md, which explains it. Pure. */

const USER_UNKNOWN =
  'Login forms get 503. Users who come from another site are not logged in yet (degraded: user_unknown). Their next page after 30 s tries again'

/** By heading: what users see, and what completes "Check …". Sentences without their full stop. */
export const LOG_LINES = {
  'A call to the SSO system failed': {
    users:
      'Logged-in users stay logged in for graceSeconds. Logins get 503, and logouts are retried. If this lasts, new visitors get pages without login',
    check:
      "that this machine reaches ssoUrl (SSO2_URL), then clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET), organisationId (SSO2_ORGANISATION_ID), this machine's clock, and that the API client is enabled for SSO2 in the admin portal and has the landing page of this site: npx express-sso2 doctor",
  },
  'The ticket could not be exchanged': {
    users: USER_UNKNOWN,
    check:
      'that this machine reaches tokenUrl (SSO2_TOKEN_URL), and that it accepts clientId (SSO2_CLIENT_ID), clientSecret (SSO2_CLIENT_SECRET) and ticketExchange. With your own exchangeTicket: what it returns, or the stack below',
  },
  'The user could not be loaded': {
    users: USER_UNKNOWN,
    check:
      'that this machine reaches apiUrl (SSO2_API_URL), that userPath (SSO2_USER_PATH) below it returns the user of an access token of tokenUrl, and the scopes of the API client. With your own loadUser: what it returns, or the stack below',
  },
  'onLogin or onLogout failed': {
    users: 'Users are not affected',
    check: 'the stack below. The hook has 2 seconds',
  },
  'A view failed': {
    users: 'Users see the built-in page',
    check: 'the stack below',
  },
  'Redis does not respond': {
    users: 'Users get pages without login (degraded: store_unavailable), and logins get 503',
    check: 'redis (REDIS_URL): the page says what to do about each cause',
  },
  'Redis refuses writes': {
    users:
      'Users stay logged in for graceSeconds, but logins get 503, logouts wait, and changes of req.session are not saved',
    check: 'redis (REDIS_URL): the page says what to do about each cause',
  },
  'A session could not be saved': {
    users: 'Users lose data of req.session, such as a basket',
    check: 'Redis: it is full, a replica, or down',
  },
  'Redirect loop': {
    users:
      'A browser came back from Identify without a session, and gets pages without login (degraded: identify_loop)',
    check:
      '1. that all processes have the same redis (REDIS_URL) and sessionSecret (SSO2_SESSION_SECRET); 2. that cookies of siteUrl reach the site; 3. that no other site on this host name has the same session.cookieName; 4. with your own express-session and a cookie that is secure, behind a proxy: app.set("trust proxy", 1)',
  },
  'Too many new visitors from one address': {
    users: 'New visitors from there get pages without a session for a minute (degraded: identify_loop)',
    check: 'who visits from there, and that app.set("trust proxy") names every proxy with a public address',
  },
  'Landing tokens are refused': {
    users: 'Users get pages without login (degraded: token_refused)',
    check:
      'by the reason. signature: clientSecret (SSO2_CLIENT_SECRET). audience: clientId (SSO2_CLIENT_ID). issuer: ssoIdentifier (SSO2_IDENTIFIER). expired, not_yet_valid: the clock of this machine (use NTP). Any other: ssoUrl (SSO2_URL)',
  },
  'No browser returns the cookies': {
    users: 'Users get pages without login (degraded: cookies_blocked)',
    check: 'that browsers reach the site at siteUrl (SSO2_SITE_URL), with https if it says so',
  },
  'A form could not be read': {
    users: 'Users cannot log in',
    check: 'that sso is mounted before any middleware that reads the body (express-formidable, multer, a proxy)',
  },
  'A form of another origin was refused': {
    users: 'Such a form neither logs in nor out (403)',
    check:
      'that siteUrl (SSO2_SITE_URL) is the address that browsers show, and that no proxy changes Origin or Sec-Fetch-Site',
  },
  'A form of another site begins no session': {
    users: 'What the handler of its POST wrote to req.session is not kept, and the session of the browser stays',
    check:
      'that the handler keeps its result by an order number, and redirects to a page that reads it (docs/recipes.md)',
  },
  'A variable is not read': {
    users: 'The option has its default',
    check: 'the name of the variable',
  },
  'destroy() ended a login': {
    users: 'The next page load logs the user in again',
    check: 'that the site logs out by req.sso2.logout() or a POST to routes.logout, not by destroy() or regenerate()',
  },
  'Your own session store failed': {
    users: 'It has not deleted a session. The request has an empty session under a new ID',
    check: "the store of the site's own express-session",
  },
} as const satisfies Record<string, { users: string; check: string }>

/** Begins a log line. */
export type Heading = keyof typeof LOG_LINES
