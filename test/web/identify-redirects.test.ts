import express from 'express'
import type { Sso2Options } from '../../lib'
import { pageKey } from '../../lib/decide/loop-guard'
import { addPages, type Gates, present, type Setup, startSetup, view } from '../flows/setup'
import { identifyRedirects } from '../regressions/pausable-setup'
import { documentHeaders } from '../safety/address-support'
import { landingToken } from '../safety/session-support'
import { loggerTo } from '../support/log-lines'

/* What goes with a redirect to Identify, and when there is none: the oldest counts of redirects, and a landing on the wrong path. */

let setup: Setup
let lines: string[]
const at = (path: string) => `${setup.morning.url}${path}`

async function start(site: Partial<Sso2Options> = {}, hasRouter = true): Promise<void> {
  lines = []
  setup = await startSetup({
    site: { logger: loggerTo(lines), ...site },
    build: (sso, gates: Gates) => {
      const app = express().use(sso.session, ...(hasRouter ? [sso.router] : []), sso.middleware)
      return addPages(app, sso, gates)
    },
  })
}
afterEach(() => setup.close())

test('a new count drops the oldest of more than 32, and no other cookie', async () => {
  await start()
  const now = Math.floor(setup.emulator.clock.now() / 1000)
  const counts = Array.from({ length: 35 }, (_, age) => [`sso2.l${String(age).padStart(8, '0')}`, `${now - age}.1`])
  const cookie = [...counts, ['sso2.language', 'de']].map((pair) => pair.join('=')).join('; ')
  const { headers } = await setup.browser().fetchJson(at('/page'), { headers: { ...documentHeaders, cookie } })
  const dropped = present(headers['set-cookie'])
    .filter((line) => line.includes('; Max-Age=0;') || line.endsWith('; Max-Age=0'))
    .map((line) => line.split('=', 1)[0])
  expect(dropped.sort()).toEqual(counts.slice(31).map(([name]) => name))
})

test('a count that cannot be read is replaced', async () => {
  await start()
  const name = `sso2.l${pageKey(at('/page'))}`
  const cookie = `${name}=garbage`
  const { headers } = await setup.browser().fetchJson(at('/page'), { headers: { ...documentHeaders, cookie } })
  expect(headers['set-cookie']?.filter((line) => line.startsWith(name))).toEqual([
    expect.stringMatching(/^[^=]+=\d+\.1;/),
  ])
})

describe('a token on another path than the landing page', () => {
  const token = () => landingToken(setup, { sid: 'a-session' })
  const told = () => lines.filter((line) => line.includes('The SSO system redirects browsers to'))

  test('is told with at most 200 characters of the path', async () => {
    await start()
    const page = await setup.browser().visit(at(`/${'x'.repeat(300)}?t=${token()}`))
    expect([identifyRedirects(page), view(page).status]).toEqual([0, 'none'])
    expect(told()).toEqual([expect.stringMatching(/ to \/x{199}, but /)])
  })

  test('and one on the landing page without a router are told both, in one minute', async () => {
    await start({}, false)
    for (const path of ['/other', '/sso2/landing', '/another'])
      expect((await setup.browser().visit(at(`${path}?t=${token()}`))).status).toBe(200)
    expect(told()).toEqual([
      expect.stringContaining('to /other, but the landing page'),
      expect.stringContaining('no router handles it'),
    ])
  })

  test('of a site without a landing page is served, and nothing is told', async () => {
    await start({ routes: { landing: false } })
    const page = await setup.browser().visit(at(`/page?t=${token()}`))
    expect([identifyRedirects(page), view(page).status, told()]).toEqual([0, 'none', []])
  })
})
