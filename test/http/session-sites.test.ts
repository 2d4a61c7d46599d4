import type { Browser } from '../support/agent'
import { useRedis } from '../support/redis'
import { ada, healthWithStore, logInAtLast, useSetup, view } from '../support/setup'

/* Two sites of one organisation on one host, over one Redis, with the defaults of the package but for the names of their cookies. */

const redis = useRedis()

function useSites(cookieName: (clientId: string) => string) {
  const site = (name: string) => ({ redis: redis.url(), session: { cookieName: cookieName(name) } })
  const sites = useSetup({ host: 'localhost', site })
  // a busy machine connects slowly: no site is asked before it has its store
  beforeAll(async () => {
    for (const { sso } of [sites.morning, sites.evening]) await healthWithStore(sso)
  })
  return sites
}

describe('[O15] two sites on one Redis and one host', () => {
  const sites = useSites((clientId) => `${clientId}.sid`)
  /** Cookies that the sites have set, not those of the platform. */
  const cookiesOf = ({ cookies }: Browser) =>
    cookies.filter(({ host }) => host === 'localhost').map(({ name, value }) => `${name}=${value}`)

  test('share no key and no cookie: each has its own names', async () => {
    const { morning, evening } = sites
    const browser = sites.browser()
    await browser.visit(`${morning.url}/keep`)
    await logInAtLast(browser, morning, ada)
    const before = cookiesOf(browser)
    await browser.visit(`${evening.url}/keep`)
    await browser.submit(`${evening.url}/logout`, { return_to: '/' })
    const after = cookiesOf(browser)
    expect(before.every((text) => text.startsWith('morning.'))).toBe(true)
    expect(after).toEqual(expect.arrayContaining(before))
    expect(after.filter((text) => !/^(morning|evening)\./.test(text))).toEqual([])
    const keys = await redis.commands().keys('*')
    expect(keys.filter((key) => key.startsWith('morning:')).length).toBeGreaterThan(2)
    expect(keys.filter((key) => key.startsWith('evening:')).length).toBeGreaterThan(2)
    expect(keys.filter((key) => !/^(morning|evening):/.test(key))).toEqual([])
  })
})

const sites = useSites(() => 'same.sid')

test('[O15] two sites with the same cookie name by mistake still show no browser the session of the other', async () => {
  const { morning, evening } = sites
  const browser = sites.browser()
  await browser.visit(`${morning.url}/keep`)
  await logInAtLast(browser, morning, ada)
  await browser.visit(`${morning.url}/keep`)
  const { json } = await browser.fetchJson(`${evening.url}/`)
  expect([json.status, json.username, json.saved]).toEqual(['none', undefined, undefined])
  expect(view(await browser.visit(`${evening.url}/`))).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
})
