import { useRedis } from '../support/redis'
import { eventually, loggedInBrowser, present, resumeStore, type Setup, startSetup, view } from '../support/setup'

/* Redis hangs while a user logs out. The session ends here and at the SSO system when this browser next loads a page with Redis up. */

const redis = useRedis()
let setup: Setup
beforeEach(async () => {
  setup = await startSetup({ site: { redis: redis.url() } })
})
afterEach(() => setup.close())

const at = (path: string) => `${setup.morning.url}${path}`
const stillIn = () => setup.emulator.sessions().filter(({ status }) => status === 'loggedin').length

test.each([
  ['/logout', 1],
  ['/logout-all', 0],
])(
  '[S22] %s while Redis hangs: the next page of this browser ends the session, and tells the SSO system',
  async (path, left) => {
    const [browser] = [await loggedInBrowser(setup), await loggedInBrowser(setup)]
    const headers = { cookie: `sso2.sid=${present(browser.cookie('sso2.sid'))}` }
    redis.hang()
    expect((await browser.fetchJson(at(path), { json: {} })).json).toMatchObject({ status: 'none', logout: 'pending' })
    expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'none', degraded: 'store_unavailable' })
    await resumeStore(redis, setup.morning.sso)
    await eventually(async () => view(await browser.visit(at('/'))).status === 'anon')
    expect(stillIn()).toBe(left)
    expect((await setup.browser().fetchJson(at('/'), { headers })).json.status).toBe('none')
  },
)
