import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import {
  type BadToken,
  encode,
  goodClaims,
  group,
  HEADER,
  hmac,
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
 * One of each kind: every branch of the verifier is in test/unit/token.test.ts.
 */
export function badBytes(target: Target): BadToken[] {
  const kinds = [algorithms, keys, signatures, headers, encodings, payloads, duplicates, sizes]
  return kinds.flatMap((kind) => kind(target))
}

function algorithms(target: Target): BadToken[] {
  const [, body] = partsOf(target)
  const [secret] = target.secrets
  const head = (alg: unknown) => encode(JSON.stringify({ alg, typ: 'JWT' }))
  const none = ['none', 'nOnE', 'none\u0000']
  const unsigned = none.flatMap((alg): Row[] => [
    [`${JSON.stringify(alg)}, signed`, signSegments(head(alg), body, secret)],
    [`${JSON.stringify(alg)}, unsigned`, `${head(alg)}.${body}.`, 'malformed'],
  ])
  const others = ['hs256', 'HS384', 'RS256', 'EdDSA', 'constructor']
  const byRsa = (alg: string) => {
    const signed = `${head(alg)}.${body}`
    return `${signed}.${sign('sha256', Buffer.from(signed), rsa.privateKey).toString('base64url')}`
  }
  return group('algorithm', 'algorithm', [
    ...unsigned,
    ...others.map((alg): Row => [`${alg}, signed with HMAC`, signSegments(head(alg), body, secret)]),
    ['HS512 with its own hash', signSegments(head('HS512'), body, secret, 'sha512')],
    ['RS256 by a key of its own', byRsa('RS256')],
    ['HS256 said, RS256 done', byRsa('HS256'), 'signature'],
    ['null', signSegments(head(null), body, secret)],
    ['an array of the right one', signSegments(head(['HS256']), body, secret)],
    ['missing', signSegments(encode('{"typ":"JWT"}'), body, secret)],
    ['lent by __proto__', signSegments(encode('{"__proto__":{"alg":"HS256"},"typ":"JWT"}'), body, secret)],
  ])
}

function keys(target: Target): BadToken[] {
  const [head, body] = partsOf(target)
  const [secret] = target.secrets
  const wrong: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['the secret and a line break', `${secret}\n`],
    ['the secret without its last character', secret.slice(0, -1)],
    ['the secret read as base64', Buffer.from(secret, 'base64')],
    ['the SHA-256 of the secret', createHash('sha256').update(secret).digest()],
    ['the client ID', target.clientId],
    ['the secret of another client', SISTER_SECRET],
    ['a public RSA key as text', pem],
  ]
  const named: [string, object, string | Uint8Array][] = [
    ['kid of an empty file', { kid: '/dev/null' }, ''],
    ['kid that is the secret', { kid: 'planted' }, 'planted'],
    ['jku of an address', { jku: 'http://127.0.0.1:9/jwks.json', kid: '1' }, 'planted'],
    ['jwk with the key itself', { jwk: { kty: 'oct', k: encode('planted'), alg: 'HS256' } }, 'planted'],
    ['x5c with a certificate', { x5c: [Buffer.from('planted').toString('base64')] }, 'planted'],
  ]
  const header = (more: object) => encode(JSON.stringify({ alg: 'HS256', typ: 'JWT', ...more }))
  return group('key', 'signature', [
    ...wrong.map(([name, key]): Row => [name, signSegments(head, body, key)]),
    ...named.map(([name, more, key]): Row => [name, signSegments(header(more), body, key)]),
  ])
}

function signatures(target: Target): BadToken[] {
  const [head, body, signature] = partsOf(target)
  const [secret] = target.secrets
  const mac = Buffer.from(signature, 'base64url')
  const made = (bytes: Uint8Array) => `${head}.${body}.${encode(bytes)}`
  const flipped = (at: number) => made(mac.map((byte, index) => (index === at ? byte ^ 1 : byte)))
  const hashed = (text: string) => createHash('sha256').update(text).digest()
  const other = encode(JSON.stringify({ ...goodClaims(target), tomorrow: 1 }))
  const sha512 = Buffer.from(hmac(`${head}.${body}`, secret, 'sha512'), 'base64url')
  return group('signature', 'signature', [
    ...[0, 31].map((at): Row => [`a bit changed in byte ${at}`, flipped(at)]),
    ...[16, 31].map((size): Row => [`cut to ${size} bytes`, made(mac.subarray(0, size))]),
    ['one byte more', made(Buffer.concat([mac, Buffer.from([0])]))],
    ['twice in a row', made(Buffer.concat([mac, mac]))],
    ['of other claims', `${head}.${other}.${signature}`],
    ['of the payload alone', `${head}.${body}.${hmac(body, secret)}`],
    ['a hash without a key', made(hashed(`${head}.${body}`))],
    ['HMAC with key and text exchanged', `${head}.${body}.${hmac(secret, `${head}.${body}`)}`],
    ['HMAC of SHA-512, cut', made(sha512.subarray(0, 32))],
    ['header and payload exchanged', signSegments(body, head, secret), 'algorithm'],
    ['the header twice', signSegments(head, head, secret), 'audience'],
  ])
}

function headers(target: Target): BadToken[] {
  const payload = JSON.stringify(goodClaims(target))
  const [secret] = target.secrets
  const made = (header: string | Uint8Array) => signTexts(header, payload, secret)
  const members = ['"crit":[]', '"crit":["exp"]', '"crit":["b64"],"b64":false', '"\\u0063rit":["exp"]', '"b64":true']
  members.push('"zip":"DEF"', '"cty":null')
  const types = ['"jwt"', '"JOSE"', 'null', '["JWT"]']
  const shapes: [string, string | Uint8Array][] = [
    ['an array', `[${HEADER}]`],
    ['no JSON', '{alg:"HS256",typ:"JWT"}'],
    ['a trailing comma', '{"alg":"HS256","typ":"JWT",}'],
    ['a byte order mark', `\ufeff${HEADER}`],
    ['bytes that are not UTF-8', Buffer.from('{"alg":"HS256","typ":"JWT","x":"\xff"}', 'latin1')],
    ['alg twice, the right one last', '{"alg":"none","typ":"JWT","alg":"HS256"}'],
    ['alg twice, once as an escape', '{"\\u0061lg":"none","typ":"JWT","alg":"HS256"}'],
  ]
  return group('header', 'malformed', [
    ...members.map((text): Row => [`with ${text}`, made(`{"alg":"HS256","typ":"JWT",${text}}`)]),
    ...types.map((typ): Row => [`of the type ${typ}`, made(`{"alg":"HS256","typ":${typ}}`)]),
    ['without a type', made('{"alg":"HS256"}')],
    ['with a type lent by __proto__', made('{"alg":"HS256","__proto__":{"typ":"JWT"}}')],
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
  const hex = Buffer.from(signature, 'base64url').toString('hex')
  const within = (segment: string, space: string) => `${segment.slice(0, 8)}${space}${segment.slice(8)}`
  const spaces = [' ', '\n', '\u0000', '+']
  const spaced = spaces.flatMap((space): Row[] => [
    [`${JSON.stringify(space)} before`, space + good],
    [`${JSON.stringify(space)} after`, good + space],
    [`${JSON.stringify(space)} in the header, signed`, resigned(within(head, space), body)],
    [`${JSON.stringify(space)} in the payload, signed`, resigned(head, within(body, space))],
    [`${JSON.stringify(space)} in the signature`, `${head}.${body}.${within(signature, space)}`],
  ])
  return group('encoding', 'malformed', [
    ...spaced,
    ['nothing', ''],
    ['two segments', `${head}.${body}`],
    ['four segments', `${good}.${signature}`],
    ['an empty signature', `${head}.${body}.`],
    ['an empty payload, signed', resigned(head, '')],
    ['padding on the signature', `${good}=`],
    ['padding on the header, signed', resigned(`${head}=`, body)],
    ['padding on the payload, signed', resigned(head, `${body}==`)],
    ['unused bits in the signature', `${head}.${body}.${withUnusedBits(signature)}`],
    ['the word Bearer before', `Bearer ${good}`],
    ['flattened JSON', JSON.stringify({ payload: body, protected: head, signature })],
    ['a token in a token', resigned(head, encode(good))],
    ['a signature in hexadecimal', `${head}.${body}.${hex}`, 'signature'],
  ])
}

/** Payloads that are refused for their text, signed as they should be. */
function signedPayloads(name: string, { secrets }: Target, rows: [string, string | Uint8Array][]): BadToken[] {
  const signed = rows.map(([row, payload]): Row => [row, signTexts(HEADER, payload, secrets[0])])
  return group(name, 'malformed', signed)
}

function payloads(target: Target): BadToken[] {
  const text = JSON.stringify(goodClaims(target))
  const withX = (x: string) => `${text.slice(0, -1)},"x":${x}}`
  const within = (...bytes: number[]) => Buffer.from(withX(`"${String.fromCharCode(...bytes)}"`), 'latin1')
  const rows: [string, string | Uint8Array][] = [
    ['a byte order mark', `\ufeff${text}`],
    ['UTF-16, big end first, with its mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
    ['Latin-1', within(0xe5)],
    ['an over-long slash', within(0xc0, 0xaf)],
    ['a raw line break in a text', within(0x0a)],
    ['an array', `[${text}]`],
    ['null', 'null'],
    ['claims in a text', JSON.stringify(text)],
    ['no JSON', 'claims'],
    ['claims twice', text + text],
    ['claims cut off', text.slice(0, -1)],
    ['NaN', withX('NaN')],
  ]
  return signedPayloads('payload', target, rows)
}

function duplicates(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const text = JSON.stringify(claims)
  const escaped = (name: string) => `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
  const rows = Object.keys(claims).flatMap((name): [string, string][] => [
    [`${name}, another value first`, text.replace('{', `{"${name}":"x",`)],
    [`${name}, another value last`, `${text.slice(0, -1)},"${name}":"x"}`],
    [`${name}, the first as an escape`, text.replace('{', `{"${escaped(name)}":"x",`)],
  ])
  rows.push(
    ['__proto__', text.replace('{', '{"__proto__":1,"__proto__":2,')],
    ['with a nested object between', text.replace('{', '{"sts":"x","y":{"sts":[{"a":"}"}]},')],
    ['with white space before the colon', text.replace('{', '{ "sts" \n : "x" , ')],
  )
  return signedPayloads('duplicate', target, rows)
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
