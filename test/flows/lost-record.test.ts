import { grace, loggedIn, logIn, type Network, type PageView, startNetwork, view } from './network'

let network: Network
const at = (path: string) => `${network.morning.url}${path}`

beforeEach(async () => {
  network = await startNetwork()
})
afterEach(() => network.close())

/** Drops what Redis holds under one part of the site's prefix, as an eviction does. */
async function lose(part: 'sess' | 'sso2'): Promise<void> {
  const keys = (await network.keys()).filter((key) => key.startsWith(`${network.morning.prefix}${part}:`))
  expect(keys.length).toBeGreaterThan(0)
  await network.redis.del(...keys)
}

test("a login whose record is lost does not leave its account's data to the next account", async () => {
  const browser = await loggedIn(network)
  expect(view(await browser.visit(at('/keep'))).saved).toBe('kept')
  await lose('sso2')
  network.emulator.account('ada').logoutAll()
  expect(view(await browser.visit(at('/'))).status).toBe('anon')
  const page = await logIn(browser, network.morning, grace)
  expect(view(page)).toEqual({ status: 'loggedin', username: 'grace', url: '/' })
})

test('a session whose data is lost goes on without it, and one whose record is lost is identified again', async () => {
  const browser = await loggedIn(network)
  await browser.visit(at('/keep'))
  await lose('sess')
  expect(view(await browser.visit(at('/')))).toEqual({ status: 'loggedin', username: 'ada', url: '/' })
  await lose('sso2')
  const page = await browser.visit(at('/news?a=1'))
  expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
  expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', url: '/news?a=1' })
})

test('while the SSO system is down, pages cost few calls, and the login stays', async () => {
  const browser = await loggedIn(network)
  network.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  network.emulator.clock.advance(361)
  const pages: PageView[] = []
  for (let visit = 0; visit < 8; visit += 1) pages.push(view(await browser.visit(at('/'))))
  expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 'loggedin'))
  expect(pages[0]?.degraded).toBe('sso_unavailable')
  expect(network.count('sessionstatus')).toBeLessThan(3)
})
