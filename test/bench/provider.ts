import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * The smallest OpenID provider that the peers can log in with: everybody is Ada, and nobody is asked. Its key pair is made on the spot.
 */

const HOURS = 12 * 3600

/** What the answers are made with. */
interface Realm {
  readonly origin: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  /** The nonce of each code that has not been exchanged. */
  readonly nonces: Map<string, string>
}

/** Starts one on a free port. */
export async function startProvider() {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const server = createServer()
  server.keepAliveTimeout = 120_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://localhost:${(server.address() as AddressInfo).port}`
  const realm: Realm = { ...keys, origin: url, nonces: new Map() }
  server.on('request', (req, res) => answer(req, res, realm).catch(() => res.destroy()))
  return {
    url,
    /** As the peers want it. */
    publicPem: keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    token: (claims: object) => jwt(claims, keys.privateKey),
    close: () => server.closeAllConnections(),
  }
}

function jwt(claims: object, key: KeyObject): string {
  const text = [{ alg: 'RS256', typ: 'JWT', kid: 'bench' }, claims].map(encode).join('.')
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Keycloak has its realms below the origin; the paths' ends are told apart. */
async function answer(req: IncomingMessage, res: ServerResponse, realm: Realm): Promise<void> {
  const { origin, publicKey } = realm
  const url = new URL(req.url ?? '/', origin)
  const issuer = url.pathname.startsWith('/realms/bench/') ? `${origin}/realms/bench` : origin
  if (/\/auth(orize)?$/.test(url.pathname)) return sendBack(res, url, realm)
  if (url.pathname.endsWith('/token')) return sendTokens(req, res, issuer, realm)
  if (url.pathname.endsWith('/certs'))
    return json(res, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'RS256', use: 'sig' }] })
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

function sendBack(res: ServerResponse, url: URL, { nonces }: Realm): void {
  const code = randomUUID()
  nonces.set(code, url.searchParams.get('nonce') ?? '')
  const back = new URL(url.searchParams.get('redirect_uri') ?? '')
  back.searchParams.set('code', code)
  back.searchParams.set('state', url.searchParams.get('state') ?? '')
  res.writeHead(302, { location: back.href, 'content-length': 0 }).end()
}

async function sendTokens(req: IncomingMessage, res: ServerResponse, iss: string, { nonces, privateKey }: Realm) {
  let body = ''
  for await (const chunk of req) body += chunk
  const code = new URLSearchParams(body).get('code') ?? ''
  const nonce = nonces.get(code)
  nonces.delete(code)
  const now = Math.floor(Date.now() / 1000)
  const client = { iss, aud: 'bench', azp: 'bench', sub: 'account-0001', ...(nonce ? { nonce } : {}) }
  const common = { ...client, iat: now, exp: now + HOURS }
  const user = { name: 'Ada Lindqvist', preferred_username: 'reader-0001', email: 'reader-0001@demo-press.example' }
  json(res, {
    access_token: jwt({ ...common, typ: 'Bearer' }, privateKey),
    id_token: jwt({ ...common, ...user, typ: 'ID' }, privateKey),
    token_type: 'Bearer',
    expires_in: HOURS,
  })
}

function json(res: ServerResponse, value: object): void {
  const text = JSON.stringify(value)
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}
