import { Sso2Error, Sso2UnavailableError } from '../../lib'
import { startRedis, type TestRedis } from '../support/redis'
import { resumeStore } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite, withPages } from '../support/site'

const checkPage = withPages((app) => {
  const told = (error: unknown) => ({
    isOurs: error instanceof Sso2UnavailableError && error instanceof Sso2Error,
    code: error instanceof Sso2Error && error.code,
    operation: error instanceof Sso2UnavailableError && error.operation,
  })
  app.get('/check', async (req, res) => {
    res.json(await req.sso2.check().then((status) => ({ status }), told))
  })
})

let setup: RunningSite
let own: TestRedis
beforeAll(async () => {
  own = await startRedis()
  setup = await startSite({ build: checkPage, options: { redis: own.url } })
})
afterAll(async () => {
  await setup.close()
  await own.stop()
})

const refuseWrites = (isOn: boolean) => setup.redis.config('SET', 'min-replicas-to-write', isOn ? '3' : '0')
const healed = () => resumeStore(own, setup.sso)

test.each<[what: string, fail: () => unknown, heal: () => Promise<unknown>]>([
  ['takes no writes', () => refuseWrites(true), () => refuseWrites(false).then(healed)],
  ['hangs', () => own.hang(), healed],
  ['is gone', () => own.stop(), async () => {}],
])('[S14, O17] req.sso2.check() of a user while Redis %s throws a typed error', async (_what, fail, heal) => {
  const browser = await loggedInBrowserAt(setup)
  expect((await browser.fetchJson(`${setup.url}/check`)).json).toEqual({ status: 'loggedin' })
  await fail()
  const { status, json } = await browser.fetchJson(`${setup.url}/check`)
  expect([status, json]).toEqual([200, { isOurs: true, code: 'ERR_SSO2_UNAVAILABLE', operation: 'store' }])
  await heal()
})
