import { type Front, startFront } from '../support/front'
import { document } from '../support/landing'
import { loggerTo } from '../support/log-lines'
import { ada, eventually, loggedInBrowser, type Setup, startSetup, view, visitor as visitorOf } from '../support/setup'

let setup: Setup
/** Stands in front of the SSO system. */
let front: Front
const lines: string[] = []

beforeEach(async () => {
  lines.length = 0
  front = await startFront(1)
  setup = await startSetup({ site: { ssoUrl: `http://127.0.0.1:${front.port}/sso`, logger: loggerTo(lines) } })
  front.lead(Number(new URL(setup.emulator.siteOptions('morning').apiUrl).port))
})
afterEach(async () => {
  await setup.close()
  await front.down()
})

const at = (path: string) => `${setup.morning.url}${path}`
const visit = () => setup.browser().fetchJson(at('/page'), { headers: document })

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

test('the SSO system is down, a visitor reloads again and again → sso_unavailable, and no line says that redirects loop', async () => {
  await front.down()
  const browser = setup.browser()
  const reload = () => browser.fetchJson(at('/page'), { headers: document })
  for (let times = 0; times < 8; times += 1) expect((await reload()).status).toBe(302)
  await eventually(async () => (await reload()).status === 200)
  expect(view(await reload())).toMatchObject({ degraded: 'sso_unavailable' })
  await eventually(async () => lines.some((line) => line.includes('sessionstatus failed')))
  expect(lines.filter((line) => line.includes('Redirect loop'))).toEqual([])
  expect(lines[0]).toMatch(/Logged-in users stay logged in for 15 to 21 minutes\..*express-sso2 doctor/)
})

test('Identify alone does not work → the login form of a visitor with a session works', async () => {
  const browser = await visitorOf(setup)
  setup.emulator.faults.add({ operation: 'identify', kind: 'down' })
  await eventually(async () => (await visit()).status === 200)
  expect((await browser.fetchJson(at('/login'), { json: ada })).status).toBe(200)
})

/** No response of the SSO system verifies at this site, so no user can log in. `health()` says so for as long as it lasts. */
test('a wrong clientSecret → the SSO system is unavailable within seconds of the first visitor', async () => {
  const clientSecret = 'a-client-secret-that-the-platform-does-not-have'
  const { morning, browser, close } = await startSetup({ site: { clientSecret, logger: loggerTo(lines) } })
  const health = async () => (await morning.sso.health()).sso
  const visitPage = () => browser().visit(`${morning.url}/page`)
  expect(await health()).toBe('ok') // unknown before the first visitor: docs/monitoring.md says so
  await visitPage()
  await eventually(async () => (await health()) === 'unavailable') // three seconds, and more on a busy machine
  await visitPage()
  expect(await morning.sso.health()).toMatchObject({ ok: false, sso: 'unavailable' })
  expect(lines.join()).toMatch(/new visitors get pages without login\. Check .*clientSecret/)
  await close()
})
