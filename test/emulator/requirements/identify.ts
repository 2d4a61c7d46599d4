import { evening, morning, returnTo, token } from '../platform'
import { type Check, requirementsOf } from './check'

const requirement = requirementsOf('Identify: browser redirect')

const landing: Check[] = [
  requirement("it redirects to the client's landing page with t and r, and may not be stored", async (platform) => {
    const { status, headers } = await platform.browser().send()
    const location = new URL(headers.location ?? '')
    expect(status).toBe(302)
    expect(`${location.origin}${location.pathname}`).toBe(morning.landingPage)
    expect([...location.searchParams.keys()]).toEqual(['t', 'r'])
    expect([headers['cache-control'], headers['referrer-policy']]).toEqual(['no-store', 'no-referrer'])
  }),
  requirement('r arrives exactly as it was sent, URL-encoded once', async (platform) => {
    for (const r of [returnTo, 'http://localhost:3001/a%20b/%C3%A9?x=1&y=%26%2B+&z=ü#part']) {
      const { headers } = await platform.browser().send(morning, r)
      expect(headers.location?.split('&r=')).toEqual([expect.any(String), encodeURIComponent(r)])
    }
  }),
  requirement("a landing page's own query is kept", async (platform) => {
    const { headers } = await platform.browser().send(evening)
    expect(headers.location).toMatch(/^http:\/\/localhost:3002\/landing\?edition=late&t=[^&]+&r=[^&]+$/)
  }),
  requirement('debug_url takes the place of the landing page outside production', async (platform) => {
    const debug = encodeURIComponent('http://localhost:9999/d€bug#part')
    const { headers } = await platform
      .browser()
      .go(`t=${token(morning)}&r=${encodeURIComponent(returnTo)}&debug_url=${debug}`)
    expect(headers.location).toMatch(/^http:\/\/localhost:9999\/d%E2%82%ACbug\?t=[^#]+#part$/)
  }),
]

type Bad = [what: string, query: () => string]
const r = encodeURIComponent(returnTo)

const bad: Bad[] = [
  ['without t', () => `r=${r}`],
  ['with a token of another organisation', () => `t=${token(morning, { iss: 'other' })}&r=${r}`],
  ['without r', () => `t=${token(morning)}`],
  ['with a scheme-relative r', () => `t=${token(morning)}&r=%2F%2Fexample.com`],
  ['with a script as r', () => `t=${token(morning)}&r=javascript%3Aalert(1)`],
  ['with r twice', () => `t=${token(morning)}&r=${r}&r=${r}`],
  ['with an r in a bad encoding', () => `t=${token(morning)}&r=http%3A%2F%2Flocalhost%2F%E9`],
  ['with a relative debug_url', () => `t=${token(morning)}&r=${r}&debug_url=%2Fdebug`],
]

const refusals = bad.map(([what, query]) =>
  requirement(`${what} it is refused with a page, redirects nowhere and opens no session`, async (platform) => {
    const answer = await platform.browser().go(query())
    expect([answer.status, answer.headers.location, answer.setCookie]).toEqual([400, undefined, []])
    expect(answer.headers['content-type']).toContain('text/html')
    expect((await platform.control('GET', '/sessions')).json.sessions).toEqual([])
  }),
)

const methods: Check[] = (['HEAD', 'POST', 'PUT', 'DELETE'] as const).map((method) =>
  requirement(`${method} opens no session`, async (platform) => {
    const answer = await platform.request(method, `/sso/identify?t=${token(morning)}&r=${r}`)
    expect([answer.status, answer.headers['allow'], answer.setCookie]).toEqual([405, 'GET', []])
  }),
)

export const identifyRequirements: Check[] = [...landing, ...refusals, ...methods]
