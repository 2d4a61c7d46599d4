import '../support/patient-store'
import { document } from '../safety/session-support'
import { type Front, startFront } from '../support/front'
import { eventually, loggedInBrowser, type Setup, startSetup, view } from './setup'

let setup: Setup
let front: Front

beforeAll(async () => {
  setup = await startSetup()
  front = await startFront(Number(new URL(setup.emulator.siteOptions('morning').apiUrl).port))
})
afterAll(async () => {
  await setup.close()
  await front.down()
})

test('after the first visitors no browser is redirected to a host that is gone, and all are again once it is back', async () => {
  const away = await startSetup({ site: { ssoUrl: `http://127.0.0.1:${front.port}/sso` } })
  try {
    const visit = () => away.browser().fetchJson(`${away.morning.url}/page`, { headers: document })
    await front.down()
    expect((await visit()).status).toBe(302)
    await eventually(async () => (await visit()).status === 200)
    expect(view(await visit())).toEqual({ status: 'none', degraded: 'sso_unavailable', url: '/page' })
    expect(await away.morning.sso.health()).toMatchObject({ ok: false, sso: 'unavailable' })
    const logout = await away.browser().submit(`${away.morning.url}/logout`, { return_to: '/page' })
    expect([logout.status, logout.body]).toEqual([503, expect.stringContaining('Logging out does not work')])

    await front.up()
    await eventually(async () => (await visit()).status === 302)
    expect(setup.emulator.calls({ operation: 'identify' }).length).toBeLessThanOrEqual(1) // a probe
  } finally {
    await away.close()
  }
})

test('a logout that is confirmed leads to the page while Identify alone does not work', async () => {
  const broken = await startSetup()
  try {
    const browser = await loggedInBrowser(broken)
    broken.emulator.faults.add({ operation: 'identify', kind: 'down' })
    const page = `${broken.morning.url}/page`
    await eventually(async () => (await broken.browser().fetchJson(page, { headers: document })).status === 200)
    const { trail } = await browser.submit(`${broken.morning.url}/logout`, { return_to: '/page' })
    expect(trail.map(({ status, url }) => [status, new URL(url).pathname])).toEqual([
      [303, '/logout'],
      [200, '/page'],
    ])
    expect(broken.countCalls('logout')).toBe(1)
  } finally {
    await broken.close()
  }
})

test('a host that is there is not asked anything for it', async () => {
  const ofEvening = () => setup.emulator.calls().filter(({ clientId }) => clientId === 'evening')
  // the browser comes back: a redirect that stays unanswered for a second is a reason to ask, however busy the machine is
  const { trail } = await setup.browser().visit(`${setup.evening.url}/page`)
  expect(trail[0]?.status).toBe(302)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(ofEvening().map(({ operation }) => operation)).toEqual(['identify'])
  expect(await setup.evening.sso.health()).toMatchObject({ sso: 'ok' })
})
