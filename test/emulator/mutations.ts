/** One thing that is made wrong in the emulator, and the rule that must notice. */
export interface Mutation {
  name: string
  /** Below `lib/emulator`. */
  file: string
  /** Text that is there exactly once. */
  find: string
  replace: string
  caughtBy: string
}

const requestToken = 'http/request-token.ts'

const tokens: Mutation[] = [
  {
    name: 'the signature is not checked',
    file: requestToken,
    find: 'const matches = given.length === expected.length && timingSafeEqual(given, expected)',
    replace: 'const matches = given.length <= expected.length || timingSafeEqual(given, expected)',
    caughtBy: 'a token signed with another secret is refused',
  },
  {
    name: 'any alg is taken',
    file: requestToken,
    find: "if (text(header, 'alg') !== 'HS256') return 'alg: must be HS256'",
    replace: '',
    caughtBy: 'a token with alg none in its header is refused',
  },
  {
    name: 'any typ is taken',
    file: requestToken,
    find: "if (text(header, 'typ') !== 'JWT') return 'typ: must be JWT'",
    replace: '',
    caughtBy: 'a token with no typ in its header is refused',
  },
  {
    name: 'iss is not checked',
    file: requestToken,
    find: "if (text(claims, 'iss') !== config.organisationId) return 'iss: must be the organisation ID'",
    replace: '',
    caughtBy: 'a request with iss that is not the organisation is refused',
  },
  {
    name: 'aud is not checked',
    file: requestToken,
    find: "if (text(claims, 'aud') !== config.ssoIdentifier) return 'aud: must be the identifier of the SSO system'",
    replace: '',
    caughtBy: 'a request with aud that is not the SSO system is refused',
  },
  {
    name: 'an expired token is taken',
    file: requestToken,
    find: 'if (exp <= now - leewaySeconds)',
    replace: 'if (exp <= now - 3600)',
    caughtBy: 'a request with exp that is just over is refused',
  },
  {
    name: 'a token from the future is taken',
    file: requestToken,
    find: 'if (iat > now + leewaySeconds)',
    replace: 'if (iat > now + 3600)',
    caughtBy: 'a request with times in the future is refused',
  },
  {
    name: 'a token may live for 11 seconds',
    file: requestToken,
    find: 'if (exp - iat > TOKEN_LIFETIME_SECONDS)',
    replace: 'if (exp - iat > TOKEN_LIFETIME_SECONDS + 1)',
    caughtBy: 'a request with exp 11 seconds after iat is refused',
  },
  {
    name: 'nbf is not needed',
    file: requestToken,
    find: "const [nbf, iat, exp] = [secondsClaim(claims, 'nbf'),",
    replace: "const [nbf, iat, exp] = [secondsClaim(claims, 'iat'),",
    caughtBy: 'a request with no nbf is refused',
  },
  {
    name: 'the SSO2 flag is not looked at',
    file: requestToken,
    find: 'return state?.client.sso2 ? state : undefined',
    replace: 'return state',
    caughtBy: 'a client that is not flagged for SSO2 is refused',
  },
  {
    name: 'any lks is taken',
    file: requestToken,
    find: "if (operation === 'sessionstatus' && !lastKnownStatuses",
    replace: 'if (claims === undefined && !lastKnownStatuses',
    caughtBy: 'an lks that is no state is refused',
  },
  {
    name: 'uas is not needed',
    file: requestToken,
    find: "const device = ['ipa', 'uas']",
    replace: "const device = ['ipa']",
    caughtBy: 'logout without uas is refused',
  },
]

const answers: Mutation[] = [
  {
    name: 'Session Tokens live for a minute',
    file: 'http/session-token.ts',
    find: 'exp: created + limits.tokenSeconds',
    replace: 'exp: created + 60',
    caughtBy: 'nbf and iat are the creation time, exp 10 seconds later',
  },
  {
    name: 'aud is the SSO system',
    file: 'http/session-token.ts',
    find: ': client.clientId,',
    replace: ': ssoIdentifier,',
    caughtBy: 'iss is the SSO system, aud the client that asked',
  },
  {
    name: 'every Session Status of a logged-in session hands out a ticket',
    file: 'platform/service.ts',
    find: "const isNews = text(claims, 'lks') === 'anon'",
    replace: 'const isNews = claims !== undefined',
    caughtBy: 'Session Status hands out none when lks is loggedin',
  },
  {
    name: 'no Session Status hands out a ticket',
    file: 'platform/service.ts',
    find: "const isNews = text(claims, 'lks') === 'anon'",
    replace: "const isNews = text(claims, 'lks') === 'never'",
    caughtBy: 'anon, login on another site: seen by Session Status as loggedin',
  },
]

const sessions: Mutation[] = [
  {
    name: 'a session that is asked about becomes its browser’s again',
    file: 'platform/world.ts',
    find: 'if (!before) world.sidByBrowser.set(session.browser, session.sid)',
    replace: 'world.sidByBrowser.set(session.browser, session.sid)',
    caughtBy: 'a question about the old session does not bring it back to the browser',
  },
  {
    name: 'Identify revives a terminated session',
    file: 'platform/service.ts',
    find: "return session?.status === 'terminated' ? undefined : session",
    replace: 'return session',
    caughtBy: 'terminated, Identify: a new anonymous session',
  },
  {
    name: 'Logout of an anonymous session does nothing',
    file: 'platform/machine.ts',
    find: "rejected: 'anon', logout: 'terminated' }",
    replace: "rejected: 'anon', logout: 'anon' }",
    caughtBy: 'anon, Logout: terminated',
  },
  {
    name: 'Logout all ends only one session',
    file: 'platform/sessions.ts',
    find: "for (const session of sessions) endSsoSession(world, session, 'logout_all')",
    replace: "for (const session of sessions.slice(0, 1)) endSsoSession(world, session, 'logout_all')",
    caughtBy: 'Logout all ends every session of the account',
  },
  {
    name: 'sessions are never forgotten',
    file: 'platform/sessions.ts',
    find: 'return now - lastSeenAt >= world.config.limits.pruneAfterSeconds',
    replace: 'return now - lastSeenAt >= world.config.limits.pruneAfterSeconds * 1000',
    caughtBy: 'a session is forgotten after 7200 seconds of inactivity',
  },
  {
    name: 'activity does not keep a session',
    file: 'platform/sessions.ts',
    find: 'if (session.lastSeenAt === now) return session',
    replace: 'if (session.lastSeenAt <= now) return session',
    caughtBy: 'Session Status is activity',
  },
  {
    name: 'a cookie of any value is taken',
    file: 'platform/service.ts',
    find: 'openSession(world, found?.browser, now)',
    replace: 'openSession(world, found?.browser ?? browser, now)',
    caughtBy: 'a cookie that the SSO system did not make opens a session of its own',
  },
  {
    name: 'a terminated session can be logged in on',
    file: 'platform/service.ts',
    find: "if (session.status === 'terminated') return refuse('session_terminated')",
    replace: "if (session.status === 'terminated') return current(session)",
    caughtBy: 'session_terminated: Authenticate in a session that has ended',
  },
  {
    name: 'another account may take a session over',
    file: 'platform/service.ts',
    find: "if (session.status === 'loggedin' && session.accountId !== named) {",
    replace: "if (session.status === 'loggedin' && session.accountId === 'nobody') {",
    caughtBy: 'session_already_logged_in_on_another_account: the first account stays',
  },
  {
    name: 'one session too many',
    file: 'platform/service.ts',
    find: '.length >= limitsOf(world).sessionsPerAccount',
    replace: '.length > limitsOf(world).sessionsPerAccount',
    caughtBy: 'session_limit_reached: the sixth session of an account',
  },
]

const credentials: Mutation[] = [
  {
    name: 'a sixth attempt',
    file: 'platform/credentials.ts',
    find: 'const remaining = Math.max(0, attemptsBeforeFreeze - attempts.failed)',
    replace: 'const remaining = Math.max(0, attemptsBeforeFreeze - attempts.failed + 1)',
    caughtBy: 'invalid_credentials: raa counts down to 0',
  },
  {
    name: 'a frozen account may log in with the right password',
    file: 'platform/credentials.ts',
    find: "if (frozenFor > 0) return failedCredentials('account_frozen', { frf: frozenFor })",
    replace:
      "if (frozenFor > 0 && pwd !== state?.account.password) return failedCredentials('account_frozen', { frf: frozenFor })",
    caughtBy: 'account_frozen: even with the right password, and frf says for how long',
  },
  {
    name: 'a freeze never ends',
    file: 'platform/credentials.ts',
    find: 'if (attempts.frozenUntil > now) return attempts.frozenUntil - now',
    replace: 'if (attempts.frozenUntil > 0) return Math.max(1, attempts.frozenUntil - now)',
    caughtBy: 'an account is frozen for 12 hours',
  },
  {
    name: 'a login does not forget wrong attempts',
    file: 'platform/credentials.ts',
    find: 'if (otp) otp.consumed = true\n  state.attempts.failed = 0',
    replace: 'if (otp) otp.consumed = true',
    caughtBy: 'invalid_credentials: a login forgets them',
  },
  {
    name: 'an account that is not active may log in',
    file: 'platform/credentials.ts',
    find: 'return state.account.active ?',
    replace: 'return state.account ?',
    caughtBy: 'account_not_active: with the right password',
  },
  {
    name: 'a one-time password works twice',
    file: 'platform/credentials.ts',
    find: 'if (otp) otp.consumed = true',
    replace: 'if (otp) otp.consumed = false',
    caughtBy: 'otp_consumed_or_expired: used once already',
  },
  {
    name: 'a one-time password never expires',
    file: 'platform/credentials.ts',
    find: 'return !consumed && expiresAt > now',
    replace: 'return !consumed && expiresAt > 0 * now',
    caughtBy: 'otp_consumed_or_expired: too old',
  },
  {
    name: 'invalid_otp is never said',
    file: 'platform/credentials.ts',
    find: "expectsOtp ? 'invalid_otp' : 'invalid_credentials'",
    replace: "expectsOtp ? 'invalid_credentials' : 'invalid_credentials'",
    caughtBy: 'invalid_otp: six digits that are not the one that is outstanding',
  },
]

const addresses: Mutation[] = [
  {
    name: 'r is not looked at',
    file: 'http/identify.ts',
    find: 'if (returnTo === undefined || !isWebAddress(returnTo))',
    replace: 'if (returnTo === undefined)',
    caughtBy: 'with a script as r it is refused with a page, redirects nowhere and opens no session',
  },
  {
    name: 'r is encoded twice',
    file: 'http/identify.ts',
    find: `&r=\${encodeURIComponent(returnTo)}`,
    replace: `&r=\${encodeURIComponent(encodeURIComponent(returnTo))}`,
    caughtBy: 'r arrives exactly as it was sent',
  },
  {
    name: "the landing page's own query is lost",
    file: 'http/identify.ts',
    find: "const separator = page.includes('?') ? '&' : '?'",
    replace: "const separator = '?'",
    caughtBy: "a landing page's own query is kept",
  },
  {
    name: 'debug_url does nothing',
    file: 'http/identify.ts',
    find: '{ landing: debugUrl, returnTo }',
    replace: '{ landing: client.client.landingPage, returnTo }',
    caughtBy: 'debug_url takes the place of the landing page outside production',
  },
]

const rest: Mutation[] = [
  {
    name: 'a ticket works twice',
    file: 'platform/tickets.ts',
    find: 'world.tickets.delete(code)',
    replace: 'world.tickets.get(code)',
    caughtBy: 'a ticket is taken once',
  },
  {
    name: 'a ticket works for every client',
    file: 'platform/tickets.ts',
    find: 'if (ticket.clientId !== clientId)',
    replace: "if (clientId === '')",
    caughtBy: 'a ticket is for its client only, which does not lose it',
  },
  {
    name: 'a ticket lives on',
    file: 'platform/tickets.ts',
    find: 'if (ticket.expiresAt <= now)',
    replace: 'if (ticket.expiresAt <= 0)',
    caughtBy: 'a ticket lives 60 seconds',
  },
  {
    name: "an access token has all of the client's scopes",
    file: 'platform/tickets.ts',
    find: 'return allowed ? scopes.filter((scope) => allowed.includes(scope)) : scopes',
    replace: 'return allowed ? scopes : scopes',
    caughtBy: 'administrators needs a scope that the account has',
  },
  {
    name: 'an access token never expires',
    file: 'platform/tickets.ts',
    find: 'return token && token.expiresAt > now ? token : undefined',
    replace: 'return token && now > 0 ? token : undefined',
    caughtBy: 'a bearer token lives 3600 seconds',
  },
  {
    name: 'scopes are not looked at',
    file: 'http/rest.ts',
    find: 'if (endpoint.scope !== undefined && !token.scopes.includes(endpoint.scope)) {',
    replace: "if (endpoint.scope === '') {",
    caughtBy: 'marketplace needs the scope /external/marketing/r',
  },
  {
    name: 'subscriptions that are not active count',
    file: 'platform/world.ts',
    find: 'if (!active) continue',
    replace: 'if (active === undefined) continue',
    caughtBy: 'eligible when the subscription is not active',
  },
  {
    name: 'conflictsWith is not looked at',
    file: 'http/rest.ts',
    find: '[campaign.productCode, ...campaign.conflictsWith]',
    replace: '[campaign.productCode]',
    caughtBy: 'not eligible with an active subscription that the campaign conflicts with',
  },
  {
    name: 'group does not filter',
    file: 'http/rest.ts',
    find: '.filter((group) => wanted === undefined || group === wanted)',
    replace: '.filter((group) => wanted === undefined || group !== undefined)',
    caughtBy: 'group filters',
  },
]

/** Everything that is made wrong, one at a time. */
export const mutations: Mutation[] = [...tokens, ...answers, ...sessions, ...credentials, ...addresses, ...rest]
