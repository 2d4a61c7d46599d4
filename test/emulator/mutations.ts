/** One thing that is made wrong in `lib/emulator/http`, and the requirement whose check must notice. */
export interface Mutation {
  /** Below `lib`. */
  file: string
  /** Text that is there exactly once. */
  find: string
  replace: string
  caughtBy: string
}

type Row = [find: string, replace: string, caughtBy: string]
const rows: Record<string, Row[]> = {
  'request-token.ts': [
    [
      'const matches = given.length === expected.length && timingSafeEqual(given, expected)',
      'const matches = given.length <= expected.length || timingSafeEqual(given, expected)',
      'a token signed with another secret is refused',
    ],
    [
      "if (text(header, 'alg') !== 'HS256') return 'alg: must be HS256'",
      '',
      'a token with alg none in its header is refused',
    ],
    [
      "if (text(header, 'typ') !== 'JWT') return 'typ: must be JWT'",
      '',
      'a token with no typ in its header is refused',
    ],
    [
      "if (text(claims, 'iss') !== config.organisationId) return 'iss: must be the organisation ID'",
      '',
      'a request with iss that is not the organisation is refused',
    ],
    [
      "if (text(claims, 'aud') !== config.ssoIdentifier) return 'aud: must be the identifier of the SSO system'",
      '',
      'a request with aud that is not the SSO system is refused',
    ],
    ['if (exp <= now - leewaySeconds)', 'if (exp <= now - 3600)', 'a request with exp that is just over is refused'],
    ['if (iat > now + leewaySeconds)', 'if (iat > now + 3600)', 'a request with times in the future is refused'],
    [
      'if (exp - iat > TOKEN_LIFETIME_SECONDS)',
      'if (exp - iat > TOKEN_LIFETIME_SECONDS + 1)',
      'a request with exp 11 seconds after iat is refused',
    ],
    [
      "const [nbf, iat, exp] = [secondsClaim(claims, 'nbf'),",
      "const [nbf, iat, exp] = [secondsClaim(claims, 'iat'),",
      'a request with no nbf is refused',
    ],
    [
      'return state?.client.sso2 ? state : undefined',
      'return state',
      'a client that is not flagged for SSO2 is refused',
    ],
    [
      "if (operation === 'sessionstatus' && !lastKnownStatuses",
      'if (claims === undefined && !lastKnownStatuses',
      'an lks that is no state is refused',
    ],
    ["const device = ['ipa', 'uas']", "const device = ['ipa']", 'logout without uas is refused'],
  ],
  'session-token.ts': [
    [
      'exp: created + limits.tokenSeconds',
      'exp: created + 60',
      'nbf and iat are the creation time, exp 10 seconds later',
    ],
    [': client.clientId,', ': ssoIdentifier,', 'iss is the SSO system, aud the client that asked'],
  ],
  'identify.ts': [
    [
      'if (returnTo === undefined || !isWebAddress(returnTo))',
      'if (returnTo === undefined)',
      'with a script as r it is refused with a page, redirects nowhere and opens no session',
    ],
    [
      `&r=\${encodeURIComponent(returnTo)}`,
      `&r=\${encodeURIComponent(encodeURIComponent(returnTo))}`,
      'r arrives exactly as it was sent, URL-encoded once',
    ],
    ["const separator = page.includes('?') ? '&' : '?'", "const separator = '?'", "a landing page's own query is kept"],
    [
      '{ landing: debugUrl, returnTo }',
      '{ landing: client.client.landingPage, returnTo }',
      'debug_url takes the place of the landing page outside production',
    ],
  ],
  'rest.ts': [
    [
      'if (endpoint.scope !== undefined && !token.scopes.includes(endpoint.scope)) {',
      "if (endpoint.scope === '') {",
      'marketplace needs the scope /external/marketing/r',
    ],
    [
      '[campaign.productCode, ...campaign.conflictsWith]',
      '[campaign.productCode]',
      'not eligible with an active subscription that the campaign conflicts with',
    ],
    [
      '.filter((group) => wanted === undefined || group === wanted)',
      '.filter((group) => wanted === undefined || group !== undefined)',
      'group filters',
    ],
  ],
}

/** Everything that is made wrong, one at a time. */
export const mutations: Mutation[] = Object.entries(rows).flatMap(([file, changes]) =>
  changes.map(([find, replace, caughtBy]) => ({ file: `emulator/http/${file}`, find, replace, caughtBy })),
)
