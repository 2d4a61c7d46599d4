import { send } from '../support/http'
import { document } from '../support/landing'
import { type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { ada, type Setup } from '../support/setup'

let setup: PausableSetup
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const fields = String(new URLSearchParams({ ...ada, return_to: '/' }))

describe('a form that is sent while the SSO system is down', () => {
  beforeEach(async () => {
    setup = await startPausableSetup()
  })
  afterEach(() => setup.close())

  /** Five failed calls in a row, and the site knows it. */
  async function goesDown({ morning: { sso } }: Pick<Setup, 'morning'>): Promise<void> {
    for (const operation of ['sessionstatus', 'authenticate', 'logout', 'logoutall', 'identify'] as const)
      setup.emulator.faults.add({ operation, kind: 'down' })
    const ask = () => sso.client.sessionStatus({ sid: 'none', ipa: '127.0.0.1', uas: 'test', lks: 'anon' })
    for (let times = 0; times < 5; times += 1) await ask().catch(() => {})
    expect(await sso.health()).toMatchObject({ sso: 'unavailable' })
  }

  describe.each([
    ['/login', 'Logging in does not work'],
    ['/logout', 'Logging out does not work'],
  ])('to %s', (path, words) => {
    test('without a session gets a page of ours, or JSON, and is not sent to the SSO system', async () => {
      await goesDown(setup)
      const headers = { ...document, ...form, origin: setup.morning.url, 'sec-fetch-site': 'same-origin' }
      const answer = await send({ method: 'POST', url: new URL(setup.at(path)), headers, body: fields })
      expect([answer.status, answer.headers.location]).toEqual([503, undefined])
      expect(answer.headers['content-type']).toMatch(/^text\/html/)
      expect(answer.headers['retry-after']).toBe('5')
      expect(answer.body).toContain(words)
      expect(answer.body).not.toContain(ada.password)
      const script = await setup.browser().fetchJson(setup.at(path), { json: ada })
      expect([script.status, script.json]).toEqual([503, { error: 'unavailable' }])
    })
  })
})
