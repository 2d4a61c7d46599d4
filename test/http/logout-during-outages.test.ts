import { useRedis } from '../support/redis'
import { ada, eventually, loggedInBrowser, logIn, resumeStore, type Setup, startSetup, view } from '../support/setup'

const redis = useRedis()
let setup: Setup
beforeEach(async () => {
  setup = await startSetup({ site: { redis: redis.url() } })
})
afterEach(() => setup.close())

test('[S22] logout: confirmed, then a login, then a logout while Redis hangs → the next page ends the second login', async () => {
  const browser = await loggedInBrowser(setup)
  const logOut = async () => (await browser.fetchJson(`${setup.morning.url}/logout`, { json: {} })).json.logout
  expect(await logOut()).toBe('confirmed')
  await logIn(browser, setup.morning, ada)
  redis.hang()
  expect(await logOut()).toBe('pending')
  await resumeStore(redis, setup.morning.sso)
  const seen = new Set<string>()
  await eventually(async () => seen.add(view(await browser.visit(`${setup.morning.url}/`)).status).has('anon'))
  expect([...seen]).not.toContain('loggedin')
  expect(setup.emulator.sessions().filter(({ status }) => status === 'loggedin')).toEqual([])
})
