import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { Sso2Client } from '../../lib'
import type { TokenFault } from '../../lib/errors'
import type { Operation } from '../../lib/protocol/claims'

/** Who answers whom, when, and what a good answer to the operation would say. */
export interface Target {
  readonly operation: Operation
  readonly issuer: string
  readonly clientId: string
  readonly organisationId: string
  /** The client's secrets: the first signs, all verify. */
  readonly secrets: readonly [string, string]
  /** Seconds since 1970. */
  readonly now: number
  readonly sid: string
  readonly aid: string
  readonly ticket: string
}

interface BadToken {
  readonly group: string
  readonly name: string
  /** Mostly a text; the back channel may answer anything. */
  readonly token: unknown
  readonly reasons: readonly TokenFault[]
}

type Claims = Record<string, unknown>
type Row = readonly [name: string, token: unknown, ...reasons: TokenFault[]]

const HEADER = '{"alg":"HS256","typ":"JWT"}'
const encode = (bytes: string | Uint8Array) => Buffer.from(bytes).toString('base64url')
const hmac = (signed: string, secret: string | Uint8Array, hash = 'sha256') =>
  createHmac(hash, secret).update(signed).digest('base64url')

/** Signs two segments as they stand. */
function signSegments(header: string, payload: string, secret: string | Uint8Array, hash?: string): string {
  return `${header}.${payload}.${hmac(`${header}.${payload}`, secret, hash)}`
}

/** Signs two texts or byte strings, JSON or not. */
function signTexts(header: string | Uint8Array, payload: string | Uint8Array, secret: string): string {
  return signSegments(encode(header), encode(payload), secret)
}

/** What an operation answers when all is well, without issuer, audience and times. */
function answerOf(operation: Operation, { sid, aid, ticket }: Target): Claims {
  switch (operation) {
    case 'logout':
      return { sid, sts: 'terminated', at: null, err: null }
    case 'logoutall':
      return { aid, sts: 'terminated', at: null, err: null }
    case 'authenticate':
      return { sid, sts: 'loggedin', at: ticket, err: null, frf: -1, raa: -1 }
    default:
      return { sid, sts: 'loggedin', at: ticket, err: null }
  }
}

/** Issuer, audience and times of a good answer. */
function envelopeOf({ issuer, clientId, now }: Target): Claims {
  return { iss: issuer, aud: clientId, nbf: now, iat: now, exp: now + 10 }
}

export function goodClaims(target: Target): Claims {
  return { ...envelopeOf(target), ...answerOf(target.operation, target) }
}

/** Signs with the right secret; `undefined` leaves a claim out. */
export function signClaims(target: Target, claims: Claims, header = HEADER): string {
  return signTexts(header, JSON.stringify(claims), target.secrets[0])
}

/** The three segments of a good token. */
function partsOf(target: Target): [head: string, body: string, signature: string] {
  const [head = '', body = '', signature = ''] = signClaims(target, goodClaims(target)).split('.')
  return [head, body, signature]
}

/** Name of the claim that says whom the answer is about. */
const subjectOf = ({ operation }: Target) => (operation === 'logoutall' ? 'aid' : 'sid')

/** A good answer with some claims in place of its own; `undefined` leaves one out. */
const changed = (target: Target, more: Claims) => signClaims(target, { ...goodClaims(target), ...more })

/** One claim's text replaced, for values that only JSON text can spell. */
function spelled(target: Target, name: string, value: string): string {
  const marked = JSON.stringify({ ...goodClaims(target), [name]: 'the value' })
  return signTexts(
    HEADER,
    marked.replace('"the value"', () => value),
    target.secrets[0],
  )
}

/** Rows of one group as tokens. A row without a reason of its own has the usual one. */
function group(name: string, usual: TokenFault, rows: readonly Row[]): BadToken[] {
  return rows.map(([row, token, ...own]) => {
    const reasons = own.length > 0 ? own : [usual]
    return { group: name, name: row, token, reasons }
  })
}

/** Tokens unlike the usual that are good all the same. Threat T17. */
export function goodTokens(target: Target) {
  const claims = goodClaims(target)
  const { now, secrets } = target
  const text = JSON.stringify(claims)
  const change = (more: Claims) => signClaims(target, { ...claims, ...more })
  const { err: _none, ...withoutErr } = claims
  const keyHeader = '{"alg":"HS256","typ":"JWT","kid":"1","jku":"http://127.0.0.1:9/keys","x5u":"file:///etc/hosts"}'
  const rows: [string, string][] = [
    ['as it should be', change({})],
    ['with a claim of tomorrow', change({ tomorrow: { deep: [1, { sts: 'anon' }] } })],
    [
      'with a carried __proto__ that lends nothing',
      signTexts(HEADER, text.replace('{', '{"__proto__":{"polluted":true,"sts":"x"},'), secrets[0]),
    ],
    ['with the error left out', signClaims(target, withoutErr)],
    ['with another header of the same meaning', signClaims(target, claims, ' { "typ":"JWT" , "alg" : "HS256" } \n')],
    ['with a key ID and addresses of keys, which are ignored', signClaims(target, claims, keyHeader)],
    ['signed with the second secret', signTexts(HEADER, text, secrets[1])],
    ['that ended 4 s ago', change({ nbf: now - 14, iat: now - 14, exp: now - 4 })],
    ['made 5 s ahead of us', change({ nbf: now + 5, iat: now + 5, exp: now + 15 })],
    ['that lives 15 s', change({ exp: now + 15 })],
  ]
  return rows.map(([name, token]) => ({ name, token }))
}

/** A target for tests without a network: an answer to this operation, at a fixed time. */
export const targetOf = (operation: Operation): Target => ({
  operation,
  issuer: 'sso-service',
  clientId: 'morning',
  organisationId: 'demo-press',
  secrets: ['the-secret-of-this-year-0123456789-abc', 'the-secret-of-last-year-0123456789-abc'],
  now: 1_800_000_000,
  sid: 'a-session-of-the-sso-system',
  aid: 'account-ada',
  ticket: 'a-ticket',
})

/** A client that asks at an address and takes answers to such a target. */
export function clientOf({ clientId, organisationId, secrets, now }: Target, ssoUrl = 'http://127.0.0.1:9/sso') {
  const clock = { now: () => now * 1000 }
  return new Sso2Client({ ssoUrl, clientId, organisationId, clientSecret: secrets, clock })
}

/** Every token that must be refused as the answer that `target` describes. */
export function badTokens(target: Target): BadToken[] {
  const ofBytes = [algorithms, keys, signatures, headers, encodings, payloads]
  const ofClaims = [types, times, parties, prototypes, reflections, otherAnswers, subjects]
  return [...ofBytes, ...ofClaims].flatMap((kind) => kind(target))
}

/* The fault is in the bytes: algorithm, key, signature, header, encoding, JSON, size. */

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })

function algorithms(target: Target): BadToken[] {
  const [, body] = partsOf(target)
  const [secret] = target.secrets
  const head = (alg: unknown) => encode(JSON.stringify({ alg, typ: 'JWT' }))
  const signed = `${head('HS256')}.${body}`
  const byRsa = `${signed}.${sign('sha256', Buffer.from(signed), rsa.privateKey).toString('base64url')}`
  return group('algorithm', 'algorithm', [
    ['none, signed', signSegments(head('none'), body, secret)],
    ['none, unsigned', `${head('none')}.${body}.`, 'malformed'],
    ...['nOnE', 'RS256', null, ['HS256']].map(
      (alg): Row => [`${JSON.stringify(alg)}, signed with HMAC`, signSegments(head(alg), body, secret)],
    ),
    ['HS512 with its own hash', signSegments(head('HS512'), body, secret, 'sha512')],
    ['HS256 said, RS256 done', byRsa, 'signature'],
    ['missing', signSegments(encode('{"typ":"JWT"}'), body, secret)],
    ['lent by __proto__', signSegments(encode('{"__proto__":{"alg":"HS256"},"typ":"JWT"}'), body, secret)],
  ])
}

function keys(target: Target): BadToken[] {
  const [head, body] = partsOf(target)
  const [secret] = target.secrets
  const wrong: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['the secret without its last character', secret.slice(0, -1)],
    ['the secret of another client', 'client-secret-of-the-evening-paper-0123456789'],
  ]
  return group('key', 'signature', [...wrong.map(([name, key]): Row => [name, signSegments(head, body, key)])])
}

function signatures(target: Target): BadToken[] {
  const [head, body, signature] = partsOf(target)
  const mac = Buffer.from(signature, 'base64url')
  const made = (bytes: Uint8Array) => `${head}.${body}.${encode(bytes)}`
  return group('signature', 'signature', [
    ['a bit changed', made(mac.map((byte, index) => (index === 31 ? byte ^ 1 : byte)))],
    ['one byte more', made(Buffer.concat([mac, Buffer.from([0])]))],
    ['a hash without a key', made(createHash('sha256').update(`${head}.${body}`).digest())],
  ])
}

function headers(target: Target): BadToken[] {
  const payload = JSON.stringify(goodClaims(target))
  const made = (header: string) => signTexts(header, payload, target.secrets[0])
  const members = ['"crit":["b64"],"b64":false', '"\\u0063rit":["exp"]', '"zip":"DEF"', '"cty":null']
  const shapes: [string, string][] = [
    ['a byte order mark', `\ufeff${HEADER}`],
    ['alg twice, the right one last', '{"alg":"none","typ":"JWT","alg":"HS256"}'],
  ]
  return group('header', 'malformed', [
    ...members.map((text): Row => [`with ${text}`, made(`{"alg":"HS256","typ":"JWT",${text}}`)]),
    ...['"JOSE"', 'null'].map((typ): Row => [`of the type ${typ}`, made(`{"alg":"HS256","typ":${typ}}`)]),
    ['without a type', made('{"alg":"HS256"}')],
    ...shapes.map(([name, header]): Row => [`of ${name}`, made(header), 'malformed', 'algorithm']),
  ])
}

/** A last character that decodes to the same bytes, with bits that stand for nothing. */
function withUnusedBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(segment.slice(-1))
  return segment.slice(0, -1) + alphabet[segment.length % 4 === 0 ? (last + 1) % 64 : last + 1]
}

function encodings(target: Target): BadToken[] {
  const [head, body, signature] = partsOf(target)
  const good = `${head}.${body}.${signature}`
  const resigned = (h: string, b: string) => signSegments(h, b, target.secrets[0])
  const within = (segment: string, space: string) => `${segment.slice(0, 8)}${space}${segment.slice(8)}`
  return group('encoding', 'malformed', [
    ['a space after', `${good} `],
    ['a line break in the payload, signed', resigned(head, within(body, '\n'))],
    ['nothing', ''],
    ['four segments', `${good}.${signature}`],
    ['padding on the signature', `${good}=`],
    ['unused bits in the signature', `${head}.${body}.${withUnusedBits(signature)}`],
  ])
}

/** Payloads that are refused for their text, signed as they should be. */
function payloads(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const text = JSON.stringify(claims)
  const withX = (x: string) => `${text.slice(0, -1)},"x":${x}}`
  const within = (...bytes: number[]) => Buffer.from(withX(`"${String.fromCharCode(...bytes)}"`), 'latin1')
  const escaped = (name: string) => `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
  const rows: [string, string | Uint8Array][] = [
    ['Latin-1', within(0xe5)],
    ['8 KiB of padding', withX(`"${'x'.repeat(6144)}"`)],
    ['an array', `[${text}]`],
    ['claims twice', text + text],
    ['__proto__ twice', text.replace('{', '{"__proto__":1,"__proto__":2,')],
    ['a name twice, with a nested object between', text.replace('{', '{"sts":"x","y":{"sts":[{"a":"}"}]},')],
    ...Object.keys(claims).flatMap((name): [string, string][] => [
      [`${name} twice, another value last`, `${text.slice(0, -1)},"${name}":"x"}`],
      [`${name} twice, the first as an escape`, text.replace('{', `{"${escaped(name)}":"x",`)],
    ]),
  ]
  const signed = rows.map(([row, payload]): Row => [row, signTexts(HEADER, payload, target.secrets[0])])
  return group('payload', 'malformed', signed)
}

/* The fault is in what they say, or they answer another question. */

function types(target: Target): BadToken[] {
  const subject = subjectOf(target)
  const timeRows = ['nbf', 'iat', 'exp'].flatMap((name): Row[] => [
    ...['null', '"NOW"', 'NOW.5', '1e400'].map((value): Row => {
      const text = value.replace('NOW', String(target.now))
      return [`${name} as ${value}`, spelled(target, name, text)]
    }),
    [`${name} missing`, changed(target, { [name]: undefined })],
    [`${name} in milliseconds`, changed(target, { [name]: target.now * 1000 }), 'claims', 'not_yet_valid'],
  ])
  const wrongTexts = [7, { $ne: null }, '', `${target.sid}\u0000`, 'x'.repeat(4097)]
  const textRows = [subject, 'at', 'err'].flatMap((name) =>
    wrongTexts.map(
      (value): Row => [`${name} is ${JSON.stringify(value).slice(0, 40)}`, changed(target, { [name]: value })],
    ),
  )
  const statuses = ['ANON', 'loggedin ', 1, null, ['loggedin']]
  return [
    ...group('time', 'claims', timeRows),
    ...group('type', 'claims', [
      ...textRows,
      [`${subject} is missing`, changed(target, { [subject]: undefined })],
      ...statuses.map((sts): Row => [`sts is ${JSON.stringify(sts)}`, changed(target, { sts })]),
    ]),
  ]
}

function times(target: Target): BadToken[] {
  const { now } = target
  const moved = (seconds: number) =>
    changed(target, { nbf: now + seconds, iat: now + seconds, exp: now + seconds + 10 })
  return group('time', 'claims', [
    ...[-15, -86_400].map((by): Row => [`made ${-by} s ago`, moved(by), 'expired']),
    ...[6, 31_536_000].map((by): Row => [`made ${by} s ahead`, moved(by), 'not_yet_valid']),
    ['issued 6 s ahead', changed(target, { iat: now + 6, exp: now + 16 }), 'not_yet_valid'],
    ['that lives 16 s', changed(target, { exp: now + 16 })],
  ])
}

/** Other spellings of one name, and what is no name. */
const lookalikes = (name: string) => [name.toUpperCase(), `${name} `, [name], undefined]

function parties(target: Target): BadToken[] {
  const { clientId, issuer, organisationId } = target
  const rows = (claim: string, values: unknown[]) =>
    values.map((value): Row => [`${JSON.stringify(value)}`, changed(target, { [claim]: value })])
  return [
    ...group('iss', 'issuer', rows('iss', [...lookalikes(issuer), organisationId])),
    ...group('aud', 'audience', rows('aud', [...lookalikes(clientId), 'evening', issuer])),
  ]
}

function prototypes(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const lent = ['iss', 'aud', 'exp', subjectOf(target), 'sts'].map((name): Row => {
    const text = JSON.stringify({ ...claims, [name]: undefined })
    const carried = text.replace('{', `{"__proto__":${JSON.stringify({ [name]: claims[name], polluted: true })},`)
    const reason = name === 'iss' ? 'issuer' : name === 'aud' ? 'audience' : 'claims'
    return [`${name} lent by __proto__`, signTexts(HEADER, carried, target.secrets[0]), reason]
  })
  const named = ['__proto__', 'toString'].map((word): Row => [`sts is ${word}`, changed(target, { sts: word })])
  return group('prototype', 'claims', [...lent, ...named])
}

/** Our own request of Identify comes back: each user sees it, and it is signed with the same secret. */
function reflections(target: Target): BadToken[] {
  const { clientId, organisationId, issuer, now } = target
  const request = { cid: clientId, nbf: now, exp: now + 10, iat: now, iss: organisationId, aud: issuer }
  const answer = answerOf(target.operation, target)
  return group('reflection', 'audience', [
    ['our request', signClaims(target, request)],
    ['our request for us', signClaims(target, { ...request, ...answer, aud: clientId }), 'issuer'],
  ])
}

/** No answer at all. Which answers fit which request is a table in test/unit/tokens.test.ts. */
function otherAnswers(target: Target): BadToken[] {
  return group('other-answer', 'claims', [
    ['nothing but issuer, audience and times', signClaims(target, envelopeOf(target))],
    ['an error with a ticket', changed(target, { err: 'a_code_of_tomorrow', at: target.ticket })],
  ])
}

/** Answers about another session or account. The landing has asked about none. Threat L8. */
function subjects(target: Target): BadToken[] {
  if (target.operation === 'identify') return []
  const name = subjectOf(target)
  const asked = target[name]
  const others = [`${asked}x`, asked.slice(0, -1), asked.toUpperCase(), ` ${asked}`, '*']
  return group('subject', 'session_mismatch', [
    ...others.map((other): Row => [JSON.stringify(other), changed(target, { [name]: other })]),
    ['another one with an error', changed(target, { [name]: 'other', sts: 'anon', at: null, err: 'invalid_token' })],
  ])
}
