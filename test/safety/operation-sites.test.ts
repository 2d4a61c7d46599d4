import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Sso2Options } from '../../lib'
import { ada, eventually, grace, logIn, present, sessionSecret } from '../flows/network'
import { Browser } from '../support/agent'
import { signJwt } from '../support/oracle'
import { type Sites, secretOf, startSites } from './operation-sites'
import { beginFlow, land } from './session-support'

const shown = ({ body }: { body: string }) => JSON.parse(body) as Record<string, unknown>
const open = (sites: Sites) => new Browser({ now: () => sites.emulator.clock.now() })

let warn: jest.SpyInstance
beforeAll(() => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
})
afterAll(() => warn.mockRestore())

/** A busy machine connects slowly: nobody is asked before the sites have their store. */
async function connected({ sites }: Sites): Promise<void> {
  for (const site of sites) await eventually(async () => (await site.sso.health()).store === 'ok')
}

/** Cookies that the sites have set, not those of the platform. */
const cookiesOf = ({ cookies }: Browser) =>
  cookies.filter(({ host }) => host === 'localhost').map(({ name, value }) => `${name}=${value}`)

describe('[O15] two sites on one Redis and one host', () => {
  let sites: Sites
  let redis: Redis
  beforeAll(async () => {
    sites = await startSites(['morning', 'evening'], (clientId) => ({ session: { cookieName: `${clientId}.sid` } }))
    redis = new Redis(sites.redis.url)
    await connected(sites)
  })
  afterAll(async () => {
    redis.disconnect()
    await sites.close()
  })
  const site = (index: number) => present(sites.sites[index])

  test('share no key: each is under its client ID', async () => {
    const browser = open(sites)
    for (const index of [0, 1]) {
      await browser.visit(`${site(index).url}/keep`)
    }
    await logIn(browser, site(0), ada)
    const keys = await redis.keys('*')
    expect(keys.filter((key) => key.startsWith('morning:')).length).toBeGreaterThan(2)
    expect(keys.filter((key) => key.startsWith('evening:')).length).toBeGreaterThan(2)
    expect(keys.filter((key) => !/^(morning|evening):/.test(key))).toEqual([])
  })

  test('share no cookie: what one sets the other leaves alone', async () => {
    const browser = open(sites)
    await browser.visit(`${site(0).url}/keep`)
    const before = cookiesOf(browser)
    await browser.visit(`${site(1).url}/keep`)
    await browser.visit(`${site(1).url}/logout`)
    await browser.submit(`${site(1).url}/logout`, { return_to: '/' })
    const after = cookiesOf(browser)
    expect(before.every((text) => text.startsWith('morning.'))).toBe(true)
    expect(after).toEqual(expect.arrayContaining(before))
    expect(after.filter((text) => !/^(morning|evening)\./.test(text))).toEqual([])
  })

  test("take no session of each other, even under each other's cookie name", async () => {
    const browser = open(sites)
    await browser.visit(`${site(0).url}/`)
    await logIn(browser, site(0), ada)
    const value = present(browser.cookie('morning.sid'))
    const { json } = await open(sites).fetchJson(`${site(1).url}/`, { headers: { cookie: `evening.sid=${value}` } })
    expect(json).toEqual({ status: 'none', saved: false })
    const own = await open(sites).fetchJson(`${site(0).url}/`, { headers: { cookie: `morning.sid=${value}` } })
    expect(own.json).toMatchObject({ status: 'loggedin', accountId: 'account-ada' })
  })

  test('end all logins of an account at one site and leave the keys of the other', async () => {
    const browser = open(sites)
    for (const index of [0, 1]) await browser.visit(`${site(index).url}/keep`)
    await logIn(browser, site(0), grace)
    const before = (await redis.keys('evening:sess:*')).sort()
    await browser.submit(`${site(0).url}/logout-all`, { return_to: '/' })
    expect((await redis.keys('evening:sess:*')).sort()).toEqual(before)
  })

  test('with the same cookie name by mistake still show nobody the session of the other', async () => {
    for (const one of sites.sites) await one.restart({ session: { cookieName: 'same.sid' } })
    await connected(sites)
    const browser = open(sites)
    await browser.visit(`${site(0).url}/keep`)
    await logIn(browser, site(0), ada)
    await browser.visit(`${site(0).url}/keep`)
    const { json } = await browser.fetchJson(`${site(1).url}/`)
    expect(json).toEqual({ status: 'none', saved: false })
    const visit = await browser.visit(`${site(1).url}/`)
    expect(shown(visit)).toMatchObject({ status: 'loggedin', accountId: 'account-ada', saved: false })
  })
})

describe('[O16] while secrets are changed under load', () => {
  const next = 'the-next-client-secret-of-the-morning-paper-0123456789'
  const nextSession = 'the-next-session-secret-of-more-than-32-bytes'
  let sites: Sites
  const clients: Redis[] = []
  beforeAll(async () => {
    sites = await startSites(['morning'], () => ({ recheckSeconds: 1 }))
    await connected(sites)
  })
  afterAll(async () => {
    await sites.close()
    for (const client of clients) client.disconnect()
  })

  /** A new release that is connected before it takes requests, as one behind a health check is. */
  async function release(options: Partial<Sso2Options>): Promise<void> {
    const client = new Redis(sites.redis.url)
    clients.push(client)
    await client.ping()
    await site().restart({ ...options, redis: client })
  }

  /** Browsers that are logged in and go on reading while `change` is made; everything that they saw. */
  async function readWhile(
    change: (readMore: () => Promise<void>) => Promise<void>,
  ): Promise<{ seen: Set<string>; pages: number; ids: boolean }> {
    const site = present(sites.sites[0])
    const browsers = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const browser = open(sites)
        await browser.visit(`${site.url}/`)
        await logIn(browser, site, ada)
        await browser.visit(`${site.url}/keep`)
        return browser
      }),
    )
    const ids = browsers.map((browser) => browser.cookie('sso2.sid'))
    const seen = new Set<string>()
    let pages = 0
    let isDone = false
    const read = async (browser: Browser) => {
      while (!isDone) {
        const visit = await browser.visit(`${site.url}/page`)
        const { status, accountId, saved } = shown(visit)
        seen.add(`${visit.status} ${status} ${accountId} ${saved} ${visit.trail.length}`)
        pages += 1
        await sleep(5)
      }
    }
    const readMore = async () => {
      const goal = pages + 3 * browsers.length
      while (pages < goal) await sleep(10)
    }
    const readers = browsers.map(read)
    await change(readMore)
    sites.emulator.clock.advance(2)
    await readMore()
    isDone = true
    await Promise.all(readers)
    return { seen, pages, ids: browsers.every((browser, index) => browser.cookie('sso2.sid') === ids[index]) }
  }

  const undisturbed = new Set(['200 loggedin account-ada true 1'])
  const site = () => present(sites.sites[0])

  test('a new client secret logs nobody out, and after it the old one is worth nothing', async () => {
    const old = secretOf('morning')
    const { seen, pages, ids } = await readWhile(async (readMore) => {
      await release({ clientSecret: [old, next] })
      await readMore()
      await sites.changeSecret(next)
      await release({ clientSecret: [next, old] })
      await readMore()
      await release({ clientSecret: next })
    })
    expect(seen).toEqual(undisturbed)
    expect(ids).toBe(true)
    expect(pages).toBeGreaterThan(50)
    const browser = open(sites)
    await browser.visit(`${site().url}/`)
    expect(shown(await logIn(browser, site(), ada))).toMatchObject({ status: 'loggedin' })
    for (const [secret, isTaken] of [
      [old, false],
      [next, true],
    ] as const) {
      const flow = await beginFlow({ morning: site() })
      const { ssoIdentifier: iss } = sites.emulator.siteOptions('morning')
      const iat = Math.floor(sites.emulator.clock.now() / 1000)
      const claims = { iss, aud: 'morning', sid: 'a-session', sts: 'anon', at: null, err: null }
      const token = signJwt({ ...claims, nbf: iat, iat, exp: iat + 10 }, secret)
      const { setCookie } = await land({ morning: site() }, flow, token)
      expect(setCookie.some((line) => line.startsWith('sso2.sid='))).toBe(isTaken)
    }
  })

  test('a new session secret logs nobody out while the old one is listed, and access tokens stay of use', async () => {
    const { seen, ids } = await readWhile(async (readMore) => {
      await release({ clientSecret: next, sessionSecret: [sessionSecret, nextSession] })
      await readMore()
      await release({ clientSecret: next, sessionSecret: [nextSession, sessionSecret] })
      await readMore()
    })
    expect(seen).toEqual(undisturbed)
    expect(ids).toBe(true)
    const browser = open(sites)
    await browser.visit(`${site().url}/`)
    await logIn(browser, site(), ada)
    expect((await browser.fetchJson(`${site().url}/groups`)).json).toEqual({ groups: 2 })
    await release({ clientSecret: next, sessionSecret: nextSession })
    expect((await browser.fetchJson(`${site().url}/groups`)).json).toEqual({ groups: 2 })
  })

  test('a session secret that is gone takes its sessions with it, and Identify brings the login back unnoticed', async () => {
    await release({ clientSecret: next, sessionSecret })
    const browser = open(sites)
    await browser.visit(`${site().url}/`)
    await logIn(browser, site(), ada)
    const id = browser.cookie('sso2.sid')
    await release({ clientSecret: next, sessionSecret: nextSession })
    expect((await browser.fetchJson(`${site().url}/`)).json).toMatchObject({ status: 'none' })
    expect(shown(await browser.visit(`${site().url}/`))).toMatchObject({ status: 'loggedin' })
    expect(browser.cookie('sso2.sid')).not.toBe(id)
  })
})
