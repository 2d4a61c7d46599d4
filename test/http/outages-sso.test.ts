import { type Front, startFront } from '../support/front'
import { send } from '../support/http'
import { document } from '../support/landing'
import { loggerTo } from '../support/log-lines'
import { ada, eventually, type Setup, startSetup, view, visitor as visitorOf } from '../support/setup'

let setup: Setup
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

test('Identify alone does not work → a visitor with a session logs in, one whose session has ended gets 503, and a logout leads to the page', async () => {
  const [browser, late] = [await visitorOf(setup), await visitorOf(setup)]
  for (const { sid } of setup.emulator.sessions().slice(1)) setup.emulator.terminate(sid)
  setup.emulator.faults.add({ operation: 'identify', kind: 'down' })
  await eventually(async () => (await visit()).status === 200)
  expect((await browser.fetchJson(at('/login'), { json: ada })).status).toBe(200)
  expect(await late.submit(at('/login'), ada)).toMatchObject({ status: 503, trail: [{ status: 503 }] })
  const { trail } = await browser.submit(at('/logout'), { return_to: '/page' })
  expect(trail.map(({ status, url }) => [status, new URL(url).pathname])).toEqual([
    [303, '/logout'],
    [200, '/page'],
  ])
  expect(setup.countCalls('logout')).toBe(1)
  expect(lines.filter((line) => line.includes('onLogout'))).toEqual([]) // there is none
})

const fields = String(new URLSearchParams({ ...ada, return_to: '/' }))

/** A form without a session gets a page of ours, a script JSON, and neither is sent to the SSO system. */
async function expectFormsRefused(): Promise<void> {
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  for (const [path, words] of [
    ['/login', 'Logging in does not work'],
    ['/logout', 'Logging out does not work'],
  ] as const) {
    const answer = await send({
      method: 'POST',
      url: new URL(at(path)),
      headers: { ...document, ...form },
      body: fields,
    })
    expect([answer.status, answer.headers.location, answer.headers['retry-after']]).toEqual([503, undefined, '5'])
    expect(answer.body).toContain(words)
    expect(answer.body).not.toContain(ada.password)
    const script = await setup.browser().fetchJson(at(path), { json: ada })
    expect([script.status, script.json]).toEqual([503, { error: 'unavailable' }])
  }
}

test('the SSO system is down, a visitor reloads again and again → sso_unavailable, forms are 503, and no line says that redirects loop', async () => {
  await front.down()
  const browser = setup.browser()
  const reload = () => browser.fetchJson(at('/page'), { headers: document })
  for (let times = 0; times < 8; times += 1) expect((await reload()).status).toBe(302)
  await eventually(async () => (await reload()).status === 200)
  await expectFormsRefused()
  expect(view(await reload())).toMatchObject({ degraded: 'sso_unavailable' })
  await eventually(async () => lines.some((line) => line.includes('failed: sessionstatus')))
  expect(lines.filter((line) => line.includes('Redirect loop'))).toEqual([])
  expect(lines[0]).toMatch(/Logged-in users stay logged in for graceSeconds\..*express-sso2 doctor/)
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
