import type { RequestHandler } from 'express'
import { makeConfig } from '../../lib/config'
import { makeDoctorSignature, type SiteReport } from '../../lib/decide/doctor-protocol'
import { send } from '../support/http'
import { document } from '../support/landing'
import { eventually, sessionSecret } from '../support/setup'
import { type SiteOptions, type Sites, startSites } from '../support/sites'

/* What a site reports to the doctor: about itself, and about the request as it arrived. */

let sites: Sites

const encrypted: RequestHandler = (req, _res, next) => {
  Object.assign(req.socket, { encrypted: req.headers['x-test-encrypted'] === 'yes' })
  next()
}
const logger = { warn: () => {}, info: () => {} }
const all: Record<string, SiteOptions> = {
  plain: { options: () => ({}) },
  trusting: { options: () => ({}), before: (app) => void app.set('trust proxy', true) },
  tls: { options: () => ({}), before: (app) => void app.use(encrypted) },
  storeless: { options: () => ({ redis: 'redis://127.0.0.1:1', logger }) },
  cut: { options: () => ({ ssoUrl: 'http://127.0.0.1:1/sso', logger }) },
}

beforeAll(async () => {
  sites = await startSites(all)
})
afterAll(() => sites.close())

async function reportOf(name: string, headers: Record<string, string>): Promise<SiteReport> {
  const { clock } = sites.emulator
  const options = { ...sites.emulator.siteOptions(name), siteUrl: sites.at(name), sessionSecret }
  const { macKeys } = makeConfig(options, {}, clock)
  const signature = makeDoctorSignature(macKeys(), Math.floor(clock.now() / 1000))
  const url = new URL(sites.at(name, '/sso2/landing'))
  const { status, body } = await send({ method: 'GET', url, headers: { 'x-sso2-doctor': signature, ...headers } })
  expect(status).toBe(200)
  return JSON.parse(body) as SiteReport
}

const proxyHeaders = [
  'via',
  'forwarded',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
]
const ofProxies = Object.fromEntries(proxyHeaders.map((name) => [name, 'said by a proxy']))
const forwardedFor = '203.0.113.9, 10.0.0.1'
const forwarded = { 'x-forwarded-for': forwardedFor }

test.each<[what: string, site: string, headers: Record<string, string>, says: object]>([
  ['a request without a proxy', 'plain', {}, {}],
  ['each header that proxies add', 'plain', ofProxies, { proxyHeaders }],
  ['addresses of proxies, none trusted', 'plain', forwarded, { forwardedFor }],
  ['addresses of proxies, all trusted', 'trusting', forwarded, { forwardedFor, trustedHops: 2, hopsTrustedUnseen: 16 }],
  ['TLS up to the site', 'tls', { 'x-test-encrypted': 'yes' }, { isEncrypted: true }],
  ['a socket that says it has no TLS', 'tls', {}, { isEncrypted: false }],
  ['a site without its Redis', 'storeless', {}, { store: 'unavailable' }],
])('of %s the site reports what it has seen', async (_what, name, headers, says) => {
  const trusted = { trustedHops: 0, hopsTrustedUnseen: 0 }
  const address = { isLocalSocket: false, hasVisitorAddress: true }
  const options = { login: '/login', identify: 'always', binding: 'sso2.b' }
  const usual = {
    sso: 'ok',
    store: 'ok',
    forwardedFor: '',
    proxyHeaders: [],
    ...trusted,
    isEncrypted: false,
    ...address,
  }
  expect(await reportOf(name, headers)).toEqual({ clientId: name, siteUrl: sites.at(name), ...usual, options, ...says })
})

test('a site that has found Identify away reports so', async () => {
  await send({ method: 'GET', url: new URL(sites.at('cut', '/')), headers: document })
  await eventually(async () => (await reportOf('cut', {})).sso === 'unavailable')
})
