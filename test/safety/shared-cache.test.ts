import express from 'express'
import { ada, addPages, grace, logIn, type Network, startNetwork, view } from '../flows/network'
import { type SharedCache, startSharedCache } from './shared-cache'

let cache: SharedCache
let network: Network
let warn: jest.SpyInstance
const at = (path: string) => `${cache.url}${path}`
const site = () => ({ url: cache.url })

beforeAll(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  cache = await startSharedCache('morning.localhost')
  const clients = ['morning', 'evening'].map((name) => ({
    clientId: name,
    clientSecret: `client-secret-of-the-${name}-paper-0123456789`,
    name,
    landingPage: `${cache.url}/sso2/landing`,
  }))
  network = await startNetwork({
    emulator: { clients },
    site: { siteUrl: cache.url },
    build: (sso, gates) => {
      const app = express().use(sso)
      app.get('/news/:name', (_req, res) => {
        res.set('cache-control', 'public, max-age=60')
        res.json({ text: 'the same for everybody' })
      })
      app.get('/me', sso.requireLogin(), (req, res) => void res.json({ name: req.sso2.user?.accountId }))
      return addPages(app, sso, gates)
    },
  })
  cache.forwardTo(network.morning.url)
})
beforeEach(() => cache.clear())
afterAll(async () => {
  warn.mockRestore()
  await network.close()
  cache.close()
})

const script = { accept: '*/*', 'sec-fetch-dest': 'empty' }
const cookiesOfMorning = (browser: ReturnType<Network['browser']>) =>
  browser.cookies.filter(({ name }) => name.startsWith('sso2.')).map(({ value }) => value)

describe('a shared cache before the site', () => {
  test('[R10] keeps no redirect and no cookie of a first visit: the next visitor has cookies of his own', async () => {
    const visitors = [network.browser(), network.browser(), network.browser()]
    for (const browser of visitors) {
      const page = await browser.visit(at('/news/first'))
      expect([page.status, page.url]).toEqual([200, at('/news/first')])
    }
    const [one, two, three] = visitors.map(cookiesOfMorning)
    expect(one?.length).toBeGreaterThan(1)
    expect(two?.filter((value) => one?.includes(value))).toEqual([])
    expect(three?.filter((value) => two?.includes(value))).toEqual([])
    expect(cache.kept().filter((url) => url !== '/news/first')).toEqual([])
  })

  test('[R10] keeps what the site calls public, and serves it to all', async () => {
    const [one, two] = [network.browser(), network.browser()]
    await one.visit(at('/login'))
    await one.visit(at('/news/kept'))
    const hits = cache.hits()
    const page = await two.visit(at('/news/kept'))
    expect([page.trail.length, cache.hits() - hits, cookiesOfMorning(two)]).toEqual([1, 1, []])
  })

  test('[R10] keeps nothing of a login, a guarded page or a logout: everybody sees his own', async () => {
    const [one, two, stranger] = [network.browser(), network.browser(), network.browser()]
    await logIn(one, site(), ada, '/me')
    await logIn(two, site(), grace, '/me')
    const [ofOne, ofTwo] = [await one.visit(at('/me')), await two.visit(at('/me'))]
    expect([ofOne.trail.length, ofTwo.trail.length]).toEqual([1, 1])
    expect(ofOne.body).not.toBe(ofTwo.body)
    expect((await stranger.fetchJson(at('/me'), { headers: script })).status).toBe(401)
    expect((await stranger.visit(at('/me'))).url).toMatch(/\/login\?return_to=/)
    for (const path of ['/login', '/logout', '/logout-all', '/sso2/landing', '/sso2/landing?t=a&r=/']) {
      await stranger.visit(at(path))
      await stranger.fetchJson(at(path), { headers: script })
    }
    await one.submit(at('/logout'), { return_to: '/news/bye' })
    expect((await one.visit(at('/me'))).url).toMatch(/\/login\?return_to=/)
    expect((await two.visit(at('/me'))).body).toBe(ofTwo.body)
    expect(cache.kept().filter((url) => /^\/(?:me|log|sso2)/.test(url))).toEqual([])
  })

  test('[R10] never gives the next visitor the session of one whose login showed itself on a public page', async () => {
    const [one, two] = [network.browser(), network.browser()]
    await one.visit(at('/login'))
    network.emulator.faults.add({ operation: 'me', kind: 'status', code: 500 })
    expect((await one.submit(at('/login'), { ...ada, return_to: '/' })).status).toBe(503)
    network.emulator.faults.clear()
    network.emulator.clock.advance(61)
    expect((await one.visit(at('/news/late'))).status).toBe(200)
    expect(view(await one.fetchJson(at('/page'), { headers: script })).status).toBe('loggedin')
    await two.visit(at('/news/late'))
    const hasTheSame = two.cookie('sso2.sid') !== undefined && two.cookie('sso2.sid') === one.cookie('sso2.sid')
    const { status } = view(await two.fetchJson(at('/elsewhere'), { headers: script }))
    expect([hasTheSame, status === 'loggedin']).toEqual([false, false])
  })

  test('[R10] never gives the next visitor the ended session of another, nor takes his away', async () => {
    const [one, two] = [network.browser(), network.browser()]
    await logIn(one, site(), ada)
    for (const { sid } of network.emulator.sessions()) network.emulator.terminate(sid)
    network.emulator.clock.advance(361)
    await one.fetchJson(at('/news/ended'), { headers: script })
    expect(one.cookie('sso2.sid')).toBeUndefined()
    await logIn(two, site(), grace)
    const own = two.cookie('sso2.sid')
    await two.fetchJson(at('/news/ended'), { headers: script })
    expect(two.cookie('sso2.sid')).toBe(own)
    expect(view(await two.fetchJson(at('/page'), { headers: script }))).toMatchObject({ username: 'grace' })
  })
})
