import { request } from 'node:http'
import { readJwt, signJwt } from '../support/oracle'
import { ada, loggedInBrowser, useSetup, view } from '../support/setup'
import { bodyOf, type Listener, listen } from './back-channel-server'

/* A platform that answers `sts: loggedin` to every Authenticate of a session that is logged in, whatever it refuses: the session did not change. */

let platform: Listener
let said: Record<string, unknown> = {}

/** Changes the claims of an Authenticate response, and signs them anew. */
function changed(body: string): string {
  const { clientSecret } = setup.emulator.siteOptions('morning')
  const { claims } = readJwt(JSON.parse(body).t)
  return JSON.stringify({ t: signJwt({ ...claims, at: null, frf: -1, raa: -1, ...said }, String(clientSecret)) })
}

beforeAll(async () => {
  platform = await listen(async (req, res) => {
    const sent = await bodyOf(req)
    const { hostname: host, port } = new URL(setup.emulator.siteOptions('morning').ssoUrl)
    const options = { host, port, path: req.url, method: req.method, headers: req.headers }
    const asked = request(options, async (answer) => {
      const body = await bodyOf(answer)
      const isChanged = req.url === '/sso/authenticate' && said['err'] !== undefined
      const { 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = answer.headers
      res.writeHead(answer.statusCode ?? 500, headers).end(isChanged ? changed(body) : body)
    })
    asked.end(sent)
  })
})
const setup = useSetup({
  site: () => ({ ssoUrl: `${platform.url}/sso`, loginLimit: { attempts: 100, perSeconds: 60 } }),
})
afterAll(() => platform.close())

beforeEach(async () => {
  const attempts = (await setup.keys()).filter((key) => key.includes(':left:'))
  if (attempts.length > 0) await setup.redis.del(attempts)
})

/** Each code is in test/unit/session-token.test.ts. With a ticket beside the error, the response is refused. */
test.each([
  [{ err: 'invalid_credentials', raa: 3 }, 401, { error: 'invalid_credentials', remainingAttempts: 2 }],
  [{ err: 'account_frozen' }, 401, { error: 'account_frozen' }],
  [{ err: 'invalid_credentials', at: 'a-ticket' }, 503, { error: 'unavailable' }],
])('[L11, F4] an Authenticate of a session that is logged in, refused with %j: %i', async (claims, status, json) => {
  said = {}
  const browser = await loggedInBrowser(setup)
  said = { sts: 'loggedin', ...claims }
  const url = `${setup.morning.url}/login`
  const refused = await browser.fetchJson(url, { json: { ...ada, password: 'not-it' } })
  expect([refused.status, refused.json]).toEqual([status, json])
  said = {}
  expect(view(await browser.visit(`${setup.morning.url}/`))).toMatchObject({ status: 'loggedin', username: 'ada' })
})
