import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import {
  type BadToken,
  encode,
  goodClaims,
  group,
  HEADER,
  partsOf,
  type Row,
  SISTER_SECRET,
  signClaims,
  signSegments,
  signTexts,
  type Target,
} from './bad-tokens'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })

/**
 * Bad tokens whose fault is in their bytes: algorithm, key, signature, header, encoding, JSON, size.
 */
export function badBytes(target: Target): BadToken[] {
  const kinds = [algorithms, keys, signatures, headers, encodings, payloads, sizes]
  return kinds.flatMap((kind) => kind(target))
}

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
    ['the secret of another client', SISTER_SECRET],
    ['a public RSA key as text', pem],
  ]
  const named: [string, object, string][] = [
    ['kid of an empty file', { kid: '/dev/null' }, ''],
    ['jku of an address', { jku: 'http://127.0.0.1:9/jwks.json', kid: '1' }, 'planted'],
    ['jwk with the key itself', { jwk: { kty: 'oct', k: encode('planted'), alg: 'HS256' } }, 'planted'],
  ]
  const header = (more: object) => encode(JSON.stringify({ alg: 'HS256', typ: 'JWT', ...more }))
  return group('key', 'signature', [
    ...wrong.map(([name, key]): Row => [name, signSegments(head, body, key)]),
    ...named.map(([name, more, key]): Row => [name, signSegments(header(more), body, key)]),
  ])
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
    ['a NUL in the signature', `${head}.${body}.${within(signature, '\u0000')}`],
    ['nothing', ''],
    ['four segments', `${good}.${signature}`],
    ['an empty signature', `${head}.${body}.`],
    ['padding on the signature', `${good}=`],
    ['padding on the payload, signed', resigned(head, `${body}==`)],
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
    ['an over-long slash', within(0xc0, 0xaf)],
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

function sizes(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const deep = `${'{"a":'.repeat(1500)}1${'}'.repeat(1500)}`
  const deepText = JSON.stringify(claims).replace('{', `{"x":${deep},`)
  return group('size', 'malformed', [
    ['8 KiB of padding', signClaims(target, { ...claims, pad: 'x'.repeat(6144) })],
    ['a long signature', signClaims(target, claims) + 'A'.repeat(8192)],
    ['objects nested 1500 deep', signTexts(HEADER, deepText, target.secrets[0])],
  ])
}
