/** Texts of the log: what happened, what users see, what to check, and the heading of docs/troubleshooting.md that explains it. Pure. */

/** Parts of a log line, each a sentence without its full stop. */
interface LogTexts {
  /** Heading under "Log lines" in docs/troubleshooting.md. */
  readonly heading: string
  readonly happened: string
  readonly users: string
  /** Completes "Check …". */
  readonly check: string
}

const ONE_ADDRESS =
  'that siteUrl (SSO2_SITE_URL), routes.landing and the API client in the admin portal name one landing page'

/** Lines whose parts are fixed. A caller replaces `happened` if it has a detail to add. */
export const LOG_LINES = {
  bodyConsumed: {
    heading: 'A form could not be read',
    happened: 'A form could not be read, because another middleware has consumed its body and left nothing in req.body',
    users: 'Users cannot log in',
    check: 'that sso is mounted before that middleware (express-formidable, multer, a proxy)',
  },
  cookiesBlocked: {
    heading: 'No browser returns the cookies',
    happened: 'No browser has returned the cookies of the package to the landing page yet',
    users: 'Users get pages without login (degraded: cookies_blocked)',
    check: 'that browsers reach the site at siteUrl (SSO2_SITE_URL), with https if it says so',
  },
  crossSitePost: {
    heading: 'A form of another site begins no session',
    happened: 'A handler wrote to req.session on a POST of another site, for which browsers send no session cookie',
    users: 'The data of that request are not kept, and the session of the browser stays',
    check:
      'that the handler keeps its result by an order number, and redirects to a page that reads it (docs/recipes.md)',
  },
  destroyIsNoLogout: {
    heading: 'destroy() ended a login',
    happened: 'req.session.destroy() or regenerate() has ended a login on this site only',
    users: 'The next page load logs the user in again',
    check: 'that the site logs out by req.sso2.logout() or a POST to routes.logout',
  },
  externalSessionFailed: {
    heading: 'Your own session store failed',
    happened: "The store of the site's own express-session has not deleted a session",
    users: 'The request has an empty session under a new ID',
    check: 'that store',
  },
  formOfOtherOrigin: {
    heading: 'A form of another origin was refused',
    happened: 'A form of another origin than the one of siteUrl was refused (403)',
    users: 'Such a form neither logs in nor out',
    check:
      'that siteUrl (SSO2_SITE_URL) is the address that browsers show, and that no proxy changes Origin or Sec-Fetch-Site',
  },
  hookFailed: {
    heading: 'onLogin or onLogout failed',
    happened: 'Step failed',
    users: 'Users are not affected',
    check: 'the stack below. The hook has 2 seconds',
  },
  landingRefused: {
    heading: 'Landing tokens are refused',
    happened: 'Landing tokens are refused',
    users: 'Users get pages without login (degraded: token_refused)',
    check: 'the reason',
  },
  landingElsewhere: {
    heading: 'The landing page is another address',
    happened: 'The SSO system redirects browsers to another page than the landing page of this site',
    users: 'First visits end with 404 there, later pages are without login',
    check: ONE_ADDRESS,
  },
  redirectLoop: {
    heading: 'Redirect loop',
    happened: 'Redirect loop stopped: a browser came back from Identify several times without a session',
    users: 'Users get pages without login (degraded: identify_loop)',
    check:
      '1. that all processes have the same redis (REDIS_URL) and sessionSecret (SSO2_SESSION_SECRET); 2. that cookies of siteUrl reach the site; 3. that no other site on this host name has the same session.cookieName',
  },
  sessionNotSaved: {
    heading: 'A session could not be saved',
    happened: 'A session could not be saved: Redis did not take the data of a page',
    users: 'Users lose data of req.session, such as a basket',
    check: 'Redis: it is full, a replica, or down',
  },
  ssoCallFailed: {
    heading: 'A call to the SSO system failed',
    happened: 'Step failed',
    users:
      'Logged-in users stay logged in for {grace}. Logins get 503, and logouts are retried. If this lasts, new visitors get pages without login',
    check: 'ssoUrl (SSO2_URL)',
  },
  ticketExchangeFailed: {
    heading: 'The ticket could not be exchanged',
    happened: 'Step failed',
    users:
      'Login forms get 503. Other users are not logged in yet (degraded: user_unknown). The package tries again after 30 s',
    check: 'tokenUrl (SSO2_TOKEN_URL)',
  },
  tooManyVisitors: {
    heading: 'Too many new visitors from one address',
    happened: 'Too many new anonymous sessions from one IP address',
    users: 'New visitors from there get pages without a session for a minute',
    check:
      '1. whether a bot or a probe without cookies visits from there; 2. that app.set("trust proxy") names every proxy with a public address, such as a CDN',
  },
  userNotLoaded: {
    heading: 'The user could not be loaded',
    happened: 'Step failed',
    users:
      'Login forms get 503. Other users are not logged in yet (degraded: user_unknown). The package tries again after 30 s',
    check: 'apiUrl (SSO2_API_URL)',
  },
  viewFailed: {
    heading: 'A view failed',
    happened: 'Step failed',
    users: 'Users see the built-in page',
    check: 'the stack below',
  },
  redisRefusesReads: {
    heading: 'Redis does not respond',
    happened: 'Redis does not work',
    users: 'Users get pages without login (degraded: store_unavailable), and logins get 503',
    check: 'redis (REDIS_URL)',
  },
  redisRefusesWrites: {
    heading: 'Redis refuses writes',
    happened: 'Redis refuses writes',
    users:
      'Users stay logged in for {grace}, but logins get 503, logouts wait, and changes of req.session are not saved',
    check: 'redis (REDIS_URL)',
  },
} as const satisfies Readonly<Record<string, LogTexts>>

/** A log line, under one of the headings above. */
export interface LogLine extends LogTexts {
  readonly heading: (typeof LOG_LINES)[keyof typeof LOG_LINES]['heading']
}

/** Makes the text of a line. `{grace}` stands for the time for which users stay logged in during an outage: see {@link graceText}. */
export const logText = ({ heading, happened, users, check }: LogLine): string =>
  `${happened.replace(/\.$/, '')}. ${users}. Check ${check}. See "${heading}" in docs/troubleshooting.md.`

/** Describes for how long a user stays logged in during an outage: from the grace period to the grace period after a check just made. */
export function graceText(recheckSeconds: number, graceSeconds: number): string {
  const most = recheckSeconds + graceSeconds
  if (most < 120) return `${graceSeconds} to ${most} seconds`
  return `${Math.round(graceSeconds / 60)} to ${Math.round(most / 60)} minutes`
}

/** Lines that report a recovery. */
export const RECOVERIES = {
  identify: 'Identify works again.',
  redis: 'Redis responds again.',
  redisWrites: 'Redis takes writes again.',
  sso: 'The SSO system responds again.',
  exchangeTicket: 'The token endpoint works again.',
  loadUser: 'The user path works again.',
} as const
