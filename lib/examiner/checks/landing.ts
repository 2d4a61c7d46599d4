/** Group `landing`, tokens: a genuine token must log the user in, and each wrong token must not. */
import type { Browser } from '../browser'
import { type Check, type Finding, failed, failedIf, need, noneOf, warning } from '../check'
import { isServerError, responseOf } from '../outcome'
import type { Account } from '../platform'
import { splitText } from '../split'
import type { Stage } from '../stage'
import { type Claims, decodeToken, encodeClaims, forge, otherSecret, respell } from '../tokens'

/** A browser before the landing page, after its user has logged in on another site. */
export interface Arrival {
  readonly browser: Browser
  readonly account: Account
  /** Landing address with its token `t` and its return address `r`. */
  readonly address: URL
  readonly token: string
  readonly claims: Claims
  readonly back: URL
}

/**
 * Logs a user in on the second site, and stops before the landing page.
 * @throws {Undecided} if the user does not get there
 */
export async function arrive(stage: Stage): Promise<Arrival> {
  const browser = stage.browser()
  const { account } = await stage.loginElsewhere(browser)
  return arriveWith(stage, browser, account)
}

/** Stops a browser before the landing page, if its user is logged in at the platform. */
async function arriveWith(stage: Stage, browser: Browser, account: Account): Promise<Arrival> {
  const address = await stage.landing(browser)
  const [token, back] = [address.searchParams.get('t'), address.searchParams.get('r')]
  need(token && back && URL.canParse(back), 'the landing address has no token or no return address')
  const claims = decodeToken(token)?.claims
  need(claims?.['sts'] === 'loggedin', 'the platform of the examiner sent no logged-in user to the landing page')
  return { browser, account, address, token, claims, back: new URL(back) }
}

/**
 * Checks that a genuine token logs in, because otherwise a refusal of a wrong token proves nothing.
 * @throws {Undecided} if the genuine token does not log in
 */
export async function needGenuine(stage: Stage): Promise<void> {
  const { browser, account, address } = await arrive(stage)
  await stage.openHere(browser, address.href)
  need(await stage.isKnown(browser, account), 'the genuine token did not log its user in')
}

/** Returns the address with another token. */
export function withToken(address: URL, token: string): string {
  const changed = new URL(address)
  changed.searchParams.set('t', token)
  return changed.href
}

type Spoil = (claims: Claims, stage: Stage, token: string) => string | Promise<string>

/** Warns that the token is refused, but with a server error. */
const refusedWithError = (status: number) =>
  warning(
    `the token is refused, but with ${status}`,
    'The user whose token was refused for a good reason gets a server error.',
  )

/** Returns the user with the same SSO session and without a session of the site. */
async function arriveAgain(stage: Stage): Promise<Arrival> {
  const { browser, account, address } = await arrive(stage)
  await stage.openHere(browser, address.href)
  need(await stage.isKnown(browser, account), 'the genuine token did not log its user in')
  return arriveWith(stage, browser.withoutCookiesOf(stage.site.url, stage.platform.url), account)
}

/** Signs the claims with the client's own secret and another header. */
const withHeader = (header: Claims, hash?: 'sha384' | 'sha512'): Spoil => {
  return (claims, stage) => forge(claims, { secret: stage.platform.site.clientSecret, header, hash })
}

/** Wrong tokens of one kind: the description, and the token made of a genuine one. */
type Variants = readonly (readonly [name: string, spoil: Spoil])[]

/** Creates a check with several wrong tokens, none of which may log the user in. */
function variantsCheck(name: string, variants: Variants): Check {
  return {
    name: `landing/${name}`,
    run: async (stage) => {
      const problems: string[] = []
      let status = 0
      for (const [what, spoil] of variants) {
        const { browser, account, address, claims, token } = await arriveAgain(stage)
        const page = await stage.openHere(browser, withToken(address, await spoil(claims, stage, token)))
        const isIn = await stage.isKnown(browser, account)
        stage.tried(`a token with ${what}: ${isIn ? 'accepted' : 'refused'}`)
        if (page.status === 0) return failed(`to a token with ${what}, the landing page ${responseOf(page)}`)
        if (isIn) problems.push(`a token with ${what} was accepted, and its user is logged in`)
        if (isServerError(page)) status = page.status
      }
      return problems.length === 0 && status > 0 ? refusedWithError(status) : noneOf(problems)
    },
  }
}

/** Changes the signature of a token, as bytes. */
const withSignature = (change: (signature: Buffer) => Buffer): Spoil => {
  return (_claims, _stage, token) => {
    const end = token.lastIndexOf('.') + 1
    return token.slice(0, end) + change(Buffer.from(token.slice(end), 'base64url')).toString('base64url')
  }
}

/** Inverts the bytes of a signature from an index to another one. */
const inverted = (from: number, to = 32): Spoil =>
  withSignature((signature) =>
    Buffer.from(signature.map((byte, index) => (index >= from && index < to ? ~byte : byte))),
  )
const cutTo = (length: number): Spoil => withSignature((signature) => signature.subarray(0, length))

const partialSignatures: Variants = [
  ['a signature whose first 4 bytes are right and the others wrong', inverted(4)],
  ['a signature whose first 16 bytes are right and the others wrong', inverted(16)],
  ['a signature whose last byte alone is wrong', inverted(31)],
  ['a signature whose first byte alone is wrong', inverted(0, 1)],
  ['a signature that is cut to its first 16 bytes', cutTo(16)],
  ['a signature that is cut to its first byte', cutTo(1)],
  ['an empty signature', cutTo(0)],
  [
    'a signature that is followed by more bytes',
    withSignature((signature) => Buffer.concat([signature, Buffer.alloc(8)])),
  ],
  [
    'other claims than those that were signed',
    (claims, _stage, token) => {
      const [head, , signature] = splitText(token, '.')
      return [head, encodeClaims({ ...claims, jti: 'changed' }), signature].join('.')
    },
  ],
]

/** Creates a token that is signed with a key of the attacker. */
const ownKey = (secret: string, header: Claims = {}): Spoil => {
  return (claims) => forge(claims, { secret, header: { alg: 'HS256', typ: 'JWT', ...header } })
}

const ATTACKER_KEY = 'the-key-of-an-attacker'
const guessedKeys: Variants = [
  ['an empty key', ownKey('')],
  ['the key "secret"', ownKey('secret')],
  ['the client ID as the key', (claims, { platform }) => forge(claims, { secret: platform.site.clientId })],
  [
    'a key in its own header (jwk)',
    ownKey(ATTACKER_KEY, { jwk: { kty: 'oct', k: Buffer.from(ATTACKER_KEY).toString('base64url') } }),
  ],
  ['a key that its header names (kid: ../../dev/null)', ownKey('', { kid: '../../../../../../dev/null' })],
]

const unsigned: Variants = [
  ...['none', 'None', 'NONE', 'nOnE'].map(
    (alg) => [`alg ${alg} and no signature`, withHeader({ alg, typ: 'JWT' })] as const,
  ),
  [
    'no alg and no signature',
    (claims) => forge(claims, { secret: '', header: { alg: 'none' } }).replace(/^[^.]+/, encodeClaims({ typ: 'JWT' })),
  ],
]

/** Creates a check with a wrong token. `judge` makes the finding if the token logs the user in. */
function spoiltTokenCheck(name: string, spoil: Spoil, judge: (reason: string) => Finding = failed): Check {
  return {
    name: `landing/${name}`,
    run: async (stage) => {
      const { browser, account, address, claims, token } = await arriveAgain(stage)
      const since = Date.now()
      const spoilt = await spoil(claims, stage, token)
      const page = await stage.openHere(browser, withToken(address, spoilt))
      const hasTicket = decodeToken(spoilt)?.claims['at'] !== null
      const isExchanged = hasTicket && stage.platform.calls(since, { operation: 'token' }).length > 0
      if (await stage.isKnown(browser, account)) return judge('the token was accepted, and its user is logged in')
      if (isExchanged)
        return failed('the token was refused, but its ticket was exchanged before the token was verified')
      if (page.status >= 500) return refusedWithError(page.status)
      return failedIf(page.status === 0, `the landing page ${responseOf(page)}`)
    },
  }
}

/** Signs the changed claims with the client's own secret. */
const signed = (change: (claims: Claims, stage: Stage) => Claims): Spoil => {
  return (claims, stage) => forge({ ...claims, ...change(claims, stage) }, { secret: stage.platform.site.clientSecret })
}
const shifted = (seconds: number) =>
  signed(({ nbf, iat, exp }) => ({
    nbf: Number(nbf) + seconds,
    iat: Number(iat) + seconds,
    exp: Number(exp) + seconds,
  }))

/** Says how the site looks at exp, if it accepts a token of two minutes ago. */
async function expiryFault(stage: Stage): Promise<string> {
  const isAccepted = async (exp: number) => {
    const { browser, account, address, claims } = await arriveAgain(stage)
    await stage.openHere(browser, withToken(address, await signed(() => ({ exp }))(claims, stage, '')))
    const isIn = await stage.isKnown(browser, account)
    stage.tried(`a token with an exp of ${exp}: ${isIn ? 'accepted' : 'refused'}`)
    return isIn
  }
  if (await isAccepted(1)) return 'exp is not compared with the time'
  return (await isAccepted(Math.floor(Date.now() / 1000) - 86_400))
    ? 'exp is compared in another unit, because an exp of 1 is refused: seconds are taken for milliseconds'
    : 'exp is compared with a tolerance of more than two minutes'
}

const TWO_MINUTES_AGO = 'an exp of two minutes ago'
const expiredTokens = variantsCheck('expired', [
  [TWO_MINUTES_AGO, shifted(-120)],
  [`${TWO_MINUTES_AGO}, and an iat of now`, signed(({ exp }) => ({ exp: Number(exp) - 120 }))],
  ['no exp', signed(() => ({ exp: undefined }))],
])
const expired: Check = {
  ...expiredTokens,
  run: async (stage) => {
    const { verdict, reason } = await expiredTokens.run(stage)
    if (verdict !== 'failed' || !reason.includes(TWO_MINUTES_AGO)) return { verdict, reason }
    return failed(`${await expiryFault(stage)}: ${reason}`)
  },
}

export const spoiltTokenChecks: readonly Check[] = [
  spoiltTokenCheck('other-secret', (claims) => forge(claims, { secret: otherSecret() })),
  variantsCheck('partial-signature', partialSignatures),
  variantsCheck('other-key', guessedKeys),
  variantsCheck('alg-none', unsigned),
  variantsCheck('alg-hs512', [
    ['alg HS512 and the secret of the client', withHeader({ alg: 'HS512', typ: 'JWT' }, 'sha512')],
    ['alg HS384 and the secret of the client', withHeader({ alg: 'HS384', typ: 'JWT' }, 'sha384')],
  ]),
  spoiltTokenCheck('no-typ', withHeader({ alg: 'HS256' }), warning),
  variantsCheck('wrong-audience', [
    ['aud of another client', signed((_claims, { platform }) => ({ aud: platform.second.clientId }))],
    ['an aud that begins like that of the client', signed(({ aud }) => ({ aud: `${String(aud)}-2` }))],
    ['an aud that ends like that of the client', signed(({ aud }) => ({ aud: `2-${String(aud)}` }))],
    ['an aud that is a part of that of the client', signed(({ aud }) => ({ aud: String(aud).slice(0, 4) }))],
    ['an empty aud', signed(() => ({ aud: '' }))],
    ['aud null', signed(() => ({ aud: null }))],
    ['no aud', signed(() => ({ aud: undefined }))],
  ]),
  variantsCheck('wrong-issuer', [
    ['iss of the organisation', signed((_claims, { platform }) => ({ iss: platform.addresses.organisationId }))],
    [
      'an iss that begins like that of the SSO system',
      signed(({ iss }) => ({ iss: `${String(iss)}.attacker.invalid` })),
    ],
    ['an iss that ends like that of the SSO system', signed(({ iss }) => ({ iss: `attacker-${String(iss)}` }))],
    ['iss null', signed(() => ({ iss: null }))],
    ['no iss', signed(() => ({ iss: undefined }))],
  ]),
  expired,
  variantsCheck('not-yet-valid', [
    ['an nbf in two minutes', shifted(120)],
    ['an nbf in one hour, and an iat of now', signed(({ nbf }) => ({ nbf: Number(nbf) + 3600 }))],
  ]),
  spoiltTokenCheck('second-site-token', (claims, { platform: { second } }) =>
    forge({ ...claims, aud: second.clientId }, { secret: second.clientSecret }),
  ),
  spoiltTokenCheck(
    'oversized',
    signed(() => ({ padding: 'x'.repeat(7000) })),
    warning,
  ),
  spoiltTokenCheck('not-canonical', (_claims, _stage, token) => respell(token), warning),
  spoiltTokenCheck(
    'no-ticket',
    signed(() => ({ at: null })),
  ),
  variantsCheck('anonymous-with-ticket', [
    ['sts anon', signed(() => ({ sts: 'anon' }))],
    ['sts terminated', signed(() => ({ sts: 'terminated' }))],
    ['no sts', signed(() => ({ sts: undefined }))],
    ['sts loggedin and an err', signed(() => ({ err: 'session_terminated' }))],
  ]),
]
