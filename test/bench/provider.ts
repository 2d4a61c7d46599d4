import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * The smallest OpenID provider that the peers can log in with: everybody is Ada, and nobody is asked. Its key pair is made on the spot.
 */

/** A provider that is running. */
export interface Provider {
  readonly url: string
  /** Public key as the peers want it. */
  readonly publicPem: string
  /** Signs claims as a JWT. */
  token(claims: object): string
  close(): void
}

const HOURS = 12 * 3600

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

/** Starts one on a free port. */
export async function startProvider(): Promise<Provider> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const nonces = new Map<string, string>()
  const server = createServer((req, res) => {
    answer(req, res, `http://localhost:${(server.address() as AddressInfo).port}`, keys, nonces).catch(() =>
      res.destroy(),
    )
  })
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    publicPem: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    token: (claims) => jwt(claims, keys.privateKey),
    close: () => server.closeAllConnections(),
  }
}

function jwt(claims: object, key: KeyObject): string {
  const text = [{ alg: 'RS256', typ: 'JWT', kid: 'bench' }, claims].map(encode).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Keycloak has its realms below the origin; the paths' ends are told apart. */
async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  origin: string,
  keys: Keys,
  nonces: Map<string, string>,
) {
  const url = new URL(req.url ?? '/', origin)
  const issuer = url.pathname.startsWith('/realms/bench/') ? `${origin}/realms/bench` : origin
  if (/\/auth(orize)?$/.test(url.pathname)) return sendBack(res, url, nonces)
  if (url.pathname.endsWith('/token')) return sendTokens(req, res, issuer, keys.privateKey, nonces)
  if (url.pathname.endsWith('/certs'))
    return json(res, {
      keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' }],
    })
  json(res, {
    issuer,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/certs`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
}

function sendBack(res: ServerResponse, url: URL, nonces: Map<string, string>): void {
  const code = randomUUID()
  nonces.set(code, url.searchParams.get('nonce') ?? '')
  const back = new URL(url.searchParams.get('redirect_uri') ?? '')
  back.searchParams.set('code', code)
  back.searchParams.set('state', url.searchParams.get('state') ?? '')
  res.writeHead(302, { location: back.href, 'content-length': 0 }).end()
}

async function sendTokens(
  req: IncomingMessage,
  res: ServerResponse,
  iss: string,
  key: KeyObject,
  nonces: Map<string, string>,
) {
  let body = ''
  for await (const chunk of req) body += chunk
  const code = new URLSearchParams(body).get('code') ?? ''
  const nonce = nonces.get(code)
  nonces.delete(code)
  const now = Math.floor(Date.now() / 1000)
  const common = {
    iss,
    aud: 'bench',
    azp: 'bench',
    sub: 'account-0001',
    iat: now,
    exp: now + HOURS,
    ...(nonce ? { nonce } : {}),
  }
  const user = { name: 'Ada Lindqvist', preferred_username: 'reader-0001', email: 'reader-0001@demo-press.example' }
  json(res, {
    access_token: jwt({ ...common, typ: 'Bearer' }, key),
    id_token: jwt({ ...common, ...user, typ: 'ID' }, key),
    token_type: 'Bearer',
    expires_in: HOURS,
  })
}

function json(res: ServerResponse, value: object): void {
  const text = JSON.stringify(value)
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}
