import { useRedis } from '../support/redis'
import {
  ada,
  eventually,
  loggedInBrowser,
  logIn,
  resumeStore,
  type Setup,
  startSetup,
  view,
  visitor,
} from '../support/setup'

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

test('[S22] logout: of a visitor whose SSO session has ended, while Redis hangs → the next page does not show the basket', async () => {
  const browser = await visitor(setup)
  await browser.visit(`${setup.morning.url}/keep`)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(361)
  const script = async () => (await browser.fetchJson(`${setup.morning.url}/`)).json
  expect(await script()).toMatchObject({ status: 'none', saved: 'kept' })
  redis.hang()
  await browser.fetchJson(`${setup.morning.url}/logout`, { json: {} })
  await resumeStore(redis, setup.morning.sso)
  await eventually(async () => view(await browser.visit(`${setup.morning.url}/`)).status === 'anon')
  expect(await script()).not.toHaveProperty('saved')
})

test('[S22] logout: while Redis takes no writes → the next pages show nothing of the session', async () => {
  const browser = await loggedInBrowser(setup)
  await browser.visit(`${setup.morning.url}/keep`)
  await redis.refuseWrites()
  const answer = await browser.fetchJson(`${setup.morning.url}/logout`, { json: {} })
  expect(answer.json).toMatchObject({ logout: 'pending' })
  const page = view(await browser.visit(`${setup.morning.url}/`))
  expect([page.status, page.username, page.saved]).toEqual(['none', undefined, undefined])
  await redis.takeWrites()
  await eventually(async () => view(await browser.visit(`${setup.morning.url}/`)).status === 'anon')
  expect(setup.emulator.sessions().filter(({ status }) => status === 'loggedin')).toEqual([])
})
