import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { Redis } from 'ioredis'
import { type Sso2, sso2 } from '../../lib'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { ada, eventually, grace, logIn, present, sessionSecret } from '../flows/setup'
import { Browser } from '../support/agent'
import { startRedis } from '../support/redis'

/* Two sites of one organisation on one host, over one Redis, with the defaults of the package but for the names of their cookies. */

const names = ['morning', 'evening']
const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})

async function startSites(cookieName: (clientId: string) => string) {
  const servers = names.map(() => http.createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const urls = servers.map((server) => `http://localhost:${(server.address() as AddressInfo).port}`)
  const clients = names.map((clientId, index) => ({
    clientId,
    clientSecret: `client-secret-of-the-${clientId}-site-0123456789`,
    landingPage: `${urls[index]}/sso2/landing`,
  }))
  const server = await startRedis()
  const emulator = createEmulator(demoOptions({ clients }))
  await emulator.listen(0)
  const clock = { now: () => emulator.clock.now() }
  const sites = names.map((clientId, index) => {
    const siteUrl = present(urls[index])
    const session = { cookieName: cookieName(clientId) }
    const common = { siteUrl, redis: server.url, sessionSecret, loginLimit: false as const, session, clock }
    const sso = sso2({ ...emulator.siteOptions(clientId), ...common })
    const app = pages(sso)
    servers[index]?.on('request', (req, res) => app(req, res))
    return { url: siteUrl, sso }
  })
  // a busy machine connects slowly: no site is asked before it has its store
  for (const { sso } of sites) await eventually(async () => (await sso.health()).store === 'ok')
  const redis = new Redis(server.url)
  closers.push(async () => {
    redis.disconnect()
    for (const one of servers) one.close().closeAllConnections()
    await Promise.all(sites.map(({ sso }) => sso.close()))
    await emulator.close()
    await server.stop()
  })
  const [morning, evening] = [present(sites[0]), present(sites[1])]
  return { morning, evening, redis, browser: () => new Browser(clock) }
}

/** Logs in, for tests that need somebody who is: what a busy machine refuses is sent again. */
const logInSurely = (browser: Browser, url: string, account: typeof ada) =>
  eventually(async () => {
    const page = await logIn(browser, { url }, account).catch(() => undefined) // there was no form
    return page?.body.includes('"status":"loggedin"') === true
  })

function pages(sso: Sso2): express.Express {
  const app = express().use(sso)
  app.get('/keep', (req, res) => {
    Object.assign(req.session, { saved: 'kept' })
    res.json({})
  })
  return app.use((req, res) => {
    const { status, user } = req.sso2
    res.json({ status, accountId: user?.accountId, saved: Object.entries({ ...req.session }).length > 1 })
  })
}

describe('[O15] two sites on one Redis and one host', () => {
  let sites: Awaited<ReturnType<typeof startSites>>
  beforeAll(async () => {
    sites = await startSites((clientId) => `${clientId}.sid`)
  })
  /** Cookies that the sites have set, not those of the platform. */
  const cookiesOf = ({ cookies }: Browser) =>
    cookies.filter(({ host }) => host === 'localhost').map(({ name, value }) => `${name}=${value}`)

  test('share no key and no cookie: each has its own names', async () => {
    const { morning, evening, redis } = sites
    const browser = sites.browser()
    await browser.visit(`${morning.url}/keep`)
    await logInSurely(browser, morning.url, ada)
    const before = cookiesOf(browser)
    await browser.visit(`${evening.url}/keep`)
    await browser.submit(`${evening.url}/logout`, { return_to: '/' })
    const after = cookiesOf(browser)
    expect(before.every((text) => text.startsWith('morning.'))).toBe(true)
    expect(after).toEqual(expect.arrayContaining(before))
    expect(after.filter((text) => !/^(morning|evening)\./.test(text))).toEqual([])
    const keys = await redis.keys('*')
    expect(keys.filter((key) => key.startsWith('morning:')).length).toBeGreaterThan(2)
    expect(keys.filter((key) => key.startsWith('evening:')).length).toBeGreaterThan(2)
    expect(keys.filter((key) => !/^(morning|evening):/.test(key))).toEqual([])
  })

  test("take no session of each other, even under each other's cookie name", async () => {
    const { morning, evening } = sites
    const browser = sites.browser()
    await browser.visit(`${morning.url}/`)
    await logInSurely(browser, morning.url, ada)
    const value = present(browser.cookie('morning.sid'))
    const ask = async (url: string, cookie: string) =>
      (await sites.browser().fetchJson(`${url}/`, { headers: { cookie } })).json
    expect(await ask(evening.url, `evening.sid=${value}`)).toEqual({ status: 'none', saved: false })
    expect(await ask(morning.url, `morning.sid=${value}`)).toMatchObject({ status: 'loggedin' })
  })

  test('end all logins of an account at one site and leave the keys of the other', async () => {
    const { morning, evening, redis } = sites
    const browser = sites.browser()
    for (const { url } of [morning, evening]) await browser.visit(`${url}/keep`)
    await logInSurely(browser, morning.url, grace)
    const before = (await redis.keys('evening:sess:*')).sort()
    await browser.submit(`${morning.url}/logout-all`, { return_to: '/' })
    expect((await redis.keys('evening:sess:*')).sort()).toEqual(before)
  })

  test('with the same cookie name by mistake still show no browser the session of the other', async () => {
    const { morning, evening, browser: open } = await startSites(() => 'same.sid')
    const browser = open()
    await browser.visit(`${morning.url}/keep`)
    await logInSurely(browser, morning.url, ada)
    await browser.visit(`${morning.url}/keep`)
    const { json } = await browser.fetchJson(`${evening.url}/`)
    expect(json).toEqual({ status: 'none', saved: false })
    const seen = JSON.parse((await browser.visit(`${evening.url}/`)).body)
    expect(seen).toEqual({ status: 'loggedin', accountId: 'account-ada', saved: false })
  })
})
