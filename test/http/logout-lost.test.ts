import express from 'express'
import session from 'express-session'
import { useRedis } from '../support/redis'
import {
  ada,
  addPages,
  healthWithStore,
  logInAtLast,
  resumeStore,
  sessionSecret,
  useSetup,
  view,
  visitor,
} from '../support/setup'

/* A site with its own express-session: Redis takes no writes at a logout, which the next page with Redis is to run. */

const redis = useRedis()
const cookie = { maxAge: 86_400_000 }
const own = session({ name: 'own', secret: sessionSecret, resave: false, saveUninitialized: false, cookie })
const setup = useSetup({
  site: () => ({ redis: redis.url() }),
  build: (sso, gates) => addPages(express().use(own, sso.router, sso.middleware), sso, gates),
})
beforeAll(() => healthWithStore(setup.morning.sso))
const at = (path: string) => `${setup.morning.url}${path}`

test.each([
  ['', () => redis.refuseWrites(), () => redis.takeWrites()],
  [
    ', which Redis has lost since',
    async () => void setup.emulator.faults.add({ operation: 'logout', kind: 'down' }),
    async () => {
      await redis.commands().flushall()
      setup.emulator.faults.clear()
    },
  ],
])('a request of a script after a logout that waits%s does not undo the logout', async (_what, breakIt, mendIt) => {
  const browser = setup.browser()
  await logInAtLast(browser, setup.morning, ada)
  setup.emulator.clock.advance(2)
  await breakIt()
  expect((await browser.fetchJson(at('/logout'), { json: {} })).json.logout).toBe('pending')
  await mendIt()
  await healthWithStore(setup.morning.sso)
  expect((await browser.fetchJson(at('/'))).json.status).toBe('none')
  setup.emulator.clock.advance(61)
  expect(view(await browser.visit(at('/'))).status).not.toBe('loggedin')
})

test('a visitor closes and opens the browser, and logs out while Redis is away → the data are gone', async () => {
  const browser = await visitor(setup)
  const saved = async (path: string) => (await browser.fetchJson(at(path))).json['saved']
  expect([await saved('/keep'), await saved('/')]).toEqual(['kept', 'kept'])
  browser.dropCookies(({ name }) => name === 'sso2.b') // which lives as long as the browser runs
  redis.hang()
  expect((await browser.fetchJson(at('/logout'), { json: {} })).json.logout).toBe('pending')
  await resumeStore(redis, setup.morning.sso)
  expect(await saved('/')).toBeUndefined()
})
