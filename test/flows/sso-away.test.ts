import { document } from '../safety/session-support'
import { type Front, startFront } from '../support/front'
import { eventually, type Network, startNetwork, view } from './network'

let network: Network
let front: Front

beforeAll(async () => {
  network = await startNetwork()
  front = await startFront(Number(new URL(network.emulator.siteOptions('morning').apiUrl).port))
})
afterAll(async () => {
  await network.close()
  await front.down()
})

test('after the first visitors no browser is redirected to a host that is gone, and all are again once it is back', async () => {
  const away = await startNetwork({ site: { ssoUrl: `http://127.0.0.1:${front.port}/sso` } })
  try {
    const visit = () => away.browser().fetchJson(`${away.morning.url}/page`, { headers: document })
    await front.down()
    expect((await visit()).status).toBe(302)
    await eventually(async () => (await visit()).status === 200)
    expect(view(await visit())).toEqual({ status: 'none', degraded: 'sso_unavailable', url: '/page' })
    expect(await away.morning.sso.health()).toMatchObject({ ok: false, sso: 'unavailable' })

    await front.up()
    await eventually(async () => (await visit()).status === 302)
    expect(network.emulator.calls({ operation: 'identify' }).length).toBeLessThanOrEqual(1) // a probe
  } finally {
    await away.close()
  }
})

test('a host that is there is not asked anything for it', async () => {
  const ofEvening = () => network.emulator.calls().filter(({ clientId }) => clientId === 'evening')
  const { status } = await network.browser().fetchJson(`${network.evening.url}/page`, { headers: document })
  expect(status).toBe(302)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(ofEvening()).toEqual([])
  expect(await network.evening.sso.health()).toMatchObject({ sso: 'ok' })
})
