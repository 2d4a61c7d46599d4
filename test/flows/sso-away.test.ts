import { document } from '../safety/session-support'
import { type Front, startFront } from '../support/front'
import { eventually, loggedInBrowser, type Setup, startSetup, view } from './setup'

let setup: Setup
/** Stands in front of the SSO system. */
let front: Front

beforeEach(async () => {
  front = await startFront(1)
  setup = await startSetup({ site: { ssoUrl: `http://127.0.0.1:${front.port}/sso` } })
  front.lead(Number(new URL(setup.emulator.siteOptions('morning').apiUrl).port))
})
afterEach(async () => {
  await setup.close()
  await front.down()
})

const at = (path: string) => `${setup.morning.url}${path}`
const visit = () => setup.browser().fetchJson(at('/page'), { headers: document })

test('after the first visitors no browser is redirected to a host that is gone, and all are again once it is back', async () => {
  await front.down()
  expect((await visit()).status).toBe(302)
  await eventually(async () => (await visit()).status === 200)
  expect(view(await visit())).toEqual({ status: 'none', degraded: 'sso_unavailable', url: '/page' })
  expect(await setup.morning.sso.health()).toMatchObject({ ok: false, sso: 'unavailable' })
  const logout = await setup.browser().submit(at('/logout'), { return_to: '/page' })
  expect([logout.status, logout.body]).toEqual([503, expect.stringContaining('Logging out does not work')])

  await front.up()
  await eventually(async () => (await visit()).status === 302)
  expect(setup.emulator.calls({ operation: 'identify' }).length).toBeLessThanOrEqual(1) // a probe
})

test('a logout that is confirmed leads to the page while Identify alone does not work', async () => {
  const browser = await loggedInBrowser(setup)
  setup.emulator.faults.add({ operation: 'identify', kind: 'down' })
  await eventually(async () => (await visit()).status === 200)
  const { trail } = await browser.submit(at('/logout'), { return_to: '/page' })
  expect(trail.map(({ status, url }) => [status, new URL(url).pathname])).toEqual([
    [303, '/logout'],
    [200, '/page'],
  ])
  expect(setup.countCalls('logout')).toBe(1)
})
