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
  signSegments,
  type Target,
} from './bad-tokens'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const pem = (key: typeof rsa.publicKey) => key.export({ type: 'spki', format: 'pem' })

/** Bad tokens of another algorithm, key or signature. */
export function badSignatures(target: Target): BadToken[] {
  return [...algorithms(target), ...keys(target), ...signatures(target)]
}

function algorithms(target: Target): BadToken[] {
  const [, body] = partsOf(target)
  const [secret] = target.secrets
  const head = (alg: unknown) => encode(JSON.stringify({ alg, typ: 'JWT' }))
  const none = ['none', 'None', 'NONE', 'nOnE', 'noNe', 'NoNe', 'none ', ' none', 'none\u0000', '\u0000none']
  none.push('no\u200bne', 'n\u043ene', 'ｎｏｎｅ', 'null', '')
  const unsigned = none.flatMap((alg): Row[] => [
    [`${JSON.stringify(alg)}, signed`, signSegments(head(alg), body, secret), 'algorithm'],
    [`${JSON.stringify(alg)}, unsigned`, `${head(alg)}.${body}.`, 'malformed'],
    [`${JSON.stringify(alg)}, without a third segment`, `${head(alg)}.${body}`, 'malformed'],
  ])
  const names = 'hs256 Hs256 HS256\u0000 HS-256 HMAC-SHA256 SHA256 HS1 HS224 HS384 HS512 RS256 RS384 RS512 PS256 PS384 '
  const more = 'PS512 ES256 ES256K ES384 ES512 EdDSA Ed25519 dir A128KW RSA-OAEP PBES2-HS256+A128KW MD5 constructor'
  const others = `${names}${more}`.split(' ')
  const signed = (alg: string, bytes: Buffer) => `${head(alg)}.${body}.${bytes.toString('base64url')}`
  const input = (alg: string) => Buffer.from(`${head(alg)}.${body}`)
  return [
    ...group('alg-none', unsigned),
    ...group('alg', [
      ...others.map(
        (alg): Row => [`${JSON.stringify(alg)} over HMAC`, signSegments(head(alg), body, secret), 'algorithm'],
      ),
      ['HS256 and a space', signSegments(head('HS256 '), body, secret), 'algorithm'],
      ['HS384 with its own hash', signSegments(head('HS384'), body, secret, 'sha384'), 'algorithm'],
      ['HS512 with its own hash', signSegments(head('HS512'), body, secret, 'sha512'), 'algorithm'],
      ['HS256 with the hash of HS512', signSegments(head('HS256'), body, secret, 'sha512'), 'signature'],
      ['HS256 with the hash of HS384', signSegments(head('HS256'), body, secret, 'sha384'), 'signature'],
      ['RS256 by a key of its own', signed('RS256', sign('sha256', input('RS256'), rsa.privateKey)), 'algorithm'],
      ['ES256 by a key of its own', signed('ES256', sign('sha256', input('ES256'), ec.privateKey)), 'algorithm'],
      ['EdDSA by a key of its own', signed('EdDSA', sign(null, input('EdDSA'), ed.privateKey)), 'algorithm'],
      ['HS256 said, RS256 done', signed('HS256', sign('sha256', input('HS256'), rsa.privateKey)), 'signature'],
      ['a number', signSegments(head(256), body, secret), 'algorithm'],
      ['null', signSegments(head(null), body, secret), 'algorithm'],
      ['an array of the right one', signSegments(head(['HS256']), body, secret), 'algorithm'],
      ['an object that prints the right one', signSegments(head({ toString: 'HS256' }), body, secret), 'algorithm'],
      ['missing', signSegments(encode('{"typ":"JWT"}'), body, secret), 'algorithm'],
      ['in capitals as a name', signSegments(encode('{"ALG":"HS256","typ":"JWT"}'), body, secret), 'algorithm'],
      [
        'lent by __proto__',
        signSegments(encode('{"__proto__":{"alg":"HS256"},"typ":"JWT"}'), body, secret),
        'algorithm',
      ],
    ]),
  ]
}

function keys(target: Target): BadToken[] {
  const [head, body] = partsOf(target)
  const [secret] = target.secrets
  const wrong: [string, string | Uint8Array][] = [
    ['nothing', ''],
    ['one NUL', '\u0000'],
    ['the secret and a line break', `${secret}\n`],
    ['the secret and CR LF', `${secret}\r\n`],
    ['the secret and a space', `${secret} `],
    ['the secret after a byte order mark', `\ufeff${secret}`],
    ['the secret in quotes', `"${secret}"`],
    ['the secret without its last character', secret.slice(0, -1)],
    ['the first 32 bytes of the secret', secret.slice(0, 32)],
    ['the secret in capitals', secret.toUpperCase()],
    ['the secret twice', secret + secret],
    ['the secret backwards', [...secret].reverse().join('')],
    ['the secret in UTF-16', Buffer.from(secret, 'utf16le')],
    ['the secret in base64', Buffer.from(secret).toString('base64')],
    ['the secret in base64url', encode(secret)],
    ['the secret read as base64', Buffer.from(secret, 'base64')],
    ['the secret in hexadecimal', Buffer.from(secret).toString('hex')],
    ['the SHA-256 of the secret', createHash('sha256').update(secret).digest()],
    ['both secrets in a row', target.secrets.join(',')],
    ['the client ID', target.clientId],
    ['the organisation ID', target.organisationId],
    ['the issuer', target.issuer],
    ['the word secret', 'secret'],
    ['the words undefined', 'undefined'],
    ['the words [object Object]', '[object Object]'],
    ['the secret of another client', `${secret}-of-another-client`],
    ['a public RSA key as text', pem(rsa.publicKey)],
    ['a public RSA key as bytes', rsa.publicKey.export({ type: 'spki', format: 'der' })],
    ['a public EC key as text', pem(ec.publicKey)],
    ['a public key as JWK', JSON.stringify(rsa.publicKey.export({ format: 'jwk' }))],
  ]
  const named: [string, object, string | Uint8Array][] = [
    ['kid of an empty file', { kid: '/dev/null' }, ''],
    ['kid that climbs to an empty file', { kid: '../../../../../../dev/null' }, ''],
    ['kid of a file that everybody knows', { kid: 'file:///etc/hostname' }, 'localhost\n'],
    ['kid of an SQL statement', { kid: "x' UNION SELECT 'planted" }, 'planted'],
    ['kid of a shell command', { kid: '| echo planted' }, 'planted'],
    ['kid of a template', { kid: '{{planted}}' }, 'planted'],
    ['kid that is the secret', { kid: 'planted' }, 'planted'],
    ['kid of an object', { kid: { key: 'planted' } }, 'planted'],
    ['jku of an address', { jku: 'http://127.0.0.1:9/jwks.json', kid: '1' }, 'planted'],
    ['x5u of an address', { x5u: 'http://127.0.0.1:9/cert.pem' }, 'planted'],
    ['jwk with the key itself', { jwk: { kty: 'oct', k: encode('planted'), alg: 'HS256' } }, 'planted'],
    ['jwk with a public key', { jwk: rsa.publicKey.export({ format: 'jwk' }) }, pem(rsa.publicKey)],
    ['x5c with a certificate', { x5c: [Buffer.from('planted').toString('base64')] }, 'planted'],
    ['x5t of a certificate', { x5t: encode('planted'), 'x5t#S256': encode('planted') }, 'planted'],
    ['a key in another member', { k: 'planted', key: 'planted', secret: 'planted', pub: 'planted' }, 'planted'],
  ]
  return [
    ...group(
      'key',
      wrong.map(([name, key]) => [name, signSegments(head, body, key), 'signature']),
    ),
    ...group(
      'header-key',
      named.map(([name, more, key]) => {
        const header = encode(JSON.stringify({ alg: 'HS256', typ: 'JWT', ...more }))
        return [name, signSegments(header, body, key), 'signature']
      }),
    ),
  ]
}

function signatures(target: Target): BadToken[] {
  const [head, body, signature] = partsOf(target)
  const [secret] = target.secrets
  const mac = Buffer.from(signature, 'base64url')
  const made = (bytes: Uint8Array) => `${head}.${body}.${encode(bytes)}`
  const flipped = (at: number, bit = 1) => {
    const copy = Buffer.from(mac)
    copy[at] = (copy[at] ?? 0) ^ bit
    return made(copy)
  }
  const hashed = (text: string) => createHash('sha256').update(text).digest()
  const other = encode(JSON.stringify({ ...goodClaims(target), tomorrow: 1 }))
  return group('signature', [
    ...[0, 1, 15, 16, 30, 31].map((at): Row => [`a bit changed in byte ${at}`, flipped(at), 'signature']),
    ['the highest bit changed', flipped(0, 128), 'signature'],
    ...[1, 2, 8, 10, 16, 20, 31].map((size): Row => [`cut to ${size} bytes`, made(mac.subarray(0, size)), 'signature']),
    ['one byte more', made(Buffer.concat([mac, Buffer.from([0])])), 'signature'],
    ['one byte more in front', made(Buffer.concat([Buffer.from([0]), mac])), 'signature'],
    ['twice in a row', made(Buffer.concat([mac, mac])), 'signature'],
    ['all zeros', made(Buffer.alloc(32)), 'signature'],
    ['all ones', made(Buffer.alloc(32, 255)), 'signature'],
    ['one zero byte', made(Buffer.alloc(1)), 'signature'],
    ['backwards', made(Buffer.from(mac).reverse()), 'signature'],
    ['of other claims', `${head}.${other}.${signature}`, 'signature'],
    ['of the payload alone', `${head}.${body}.${hmac(body, secret)}`, 'signature'],
    ['of the header alone', `${head}.${body}.${hmac(head, secret)}`, 'signature'],
    [
      'of the parts in the clear',
      `${head}.${body}.${hmac(HEADER + JSON.stringify(goodClaims(target)), secret)}`,
      'signature',
    ],
    ['of the parts and a dot', `${head}.${body}.${hmac(`${head}.${body}.`, secret)}`, 'signature'],
    ['of the parts without their dot', `${head}.${body}.${hmac(head + body, secret)}`, 'signature'],
    ['a hash without a key', made(hashed(`${head}.${body}`)), 'signature'],
    ['a hash of secret and parts', made(hashed(`${secret}${head}.${body}`)), 'signature'],
    ['a hash of parts and secret', made(hashed(`${head}.${body}${secret}`)), 'signature'],
    ['HMAC with key and text exchanged', `${head}.${body}.${hmac(secret, `${head}.${body}`)}`, 'signature'],
    ['HMAC of SHA-1', `${head}.${body}.${hmac(`${head}.${body}`, secret, 'sha1')}`, 'signature'],
    [
      'HMAC of SHA-512, cut',
      made(Buffer.from(hmac(`${head}.${body}`, secret, 'sha512'), 'base64url').subarray(0, 32)),
      'signature',
    ],
    ['HMAC of SHA-512/256', `${head}.${body}.${hmac(`${head}.${body}`, secret, 'sha512-256')}`, 'signature'],
    ['HMAC of SHA3-256', `${head}.${body}.${hmac(`${head}.${body}`, secret, 'sha3-256')}`, 'signature'],
    ['header and payload exchanged', signSegments(body, head, secret), 'algorithm'],
    ['the header twice', signSegments(head, head, secret), 'issuer'],
  ])
}
