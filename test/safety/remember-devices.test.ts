import { grace, logInAtLast, type Network, startNetwork, visitor } from '../flows/network'
import { untilJudged } from './session-support'

/* `rememberDevices: false` at one of two sites that share secret and cookie names. */

let network: Network
beforeAll(async () => {
  network = await startNetwork({
    site: (name) => ({
      rememberDevices: name === 'morning',
      loginLimit: { attempts: 100, perSeconds: 60 },
    }),
  })
})
afterAll(() => network.close())

test('[F18] a site that does not remember devices sets no cookie, and accepts none', async () => {
  const { evening, morning } = network
  const known = await visitor(network)
  await logInAtLast(known, morning, grace)
  const cookie = known.cookie('sso2.d')
  network.emulator.reset()

  const browser = network.browser()
  await browser.visit(`${evening.url}/`)
  await logInAtLast(browser, evening, grace)
  expect(browser.cookie('sso2.d')).toBeUndefined()
  await browser.submit(`${evening.url}/logout`, { return_to: '/' })
  await browser.visit(`${evening.url}/`)
  const jar = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const headers = { cookie: `${jar}; sso2.d=${cookie}` }
  const judged: number[] = []
  for (let tries = 0; tries < 6; tries += 1) {
    const send = () =>
      browser.fetchJson(`${evening.url}/login`, { json: { ...grace, password: `no-${tries}` }, headers })
    judged.push((await untilJudged(send)).status)
  }
  expect(judged).toEqual([401, 401, 401, 401, 429, 429]) // one attempt stays, for no browser is recognised
})
