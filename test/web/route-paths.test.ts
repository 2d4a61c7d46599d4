import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { type Sso2, sso2 } from '../../lib'
import { createEmulator, type Emulator } from '../../lib/emulator'

/* Our routes are found as the application finds its own: `strict routing` and `case sensitive routing` decide. */

let emulator: Emulator
let sso: Sso2
let server: Server
beforeAll(async () => {
  emulator = createEmulator()
  await emulator.listen(0)
})
afterAll(() => emulator.close())
afterEach(async () => {
  server.close()
  server.closeAllConnections()
  await sso.close()
})

async function serve(app: Express, routes: object = {}): Promise<string> {
  sso = sso2({
    ...emulator.siteOptions(),
    siteUrl: 'http://localhost:1',
    sessionSecret: 'a-session-secret-of-more-than-32-bytes',
    routes,
  })
  app.use(sso)
  app.get(['/about', '/Shop/'], (_req, res) => void res.send('of the site'))
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const statuses = (url: string, paths: readonly string[]) =>
  Promise.all(paths.map(async (path) => (await fetch(url + path, { redirect: 'manual' })).status))

const settings = ['strict routing', 'case sensitive routing'] as const
const cases = [[], ['strict routing'], ['case sensitive routing'], settings] as const

describe.each([
  ['Express 5', express],
  ['Express 4', require('express4') as typeof express],
])('%s', (_name, framework) => {
  test.each(cases)('with %p %p our pages answer where pages of the site do', async (...enabled) => {
    const app = framework()
    for (const setting of enabled) if (setting) app.enable(setting)
    const url = await serve(app, { logoutAll: '/Leave/' })
    const spellings = (path: string, other: string) => [path, `${path}/`, other, `${other}/`, `${path}//`, `${path}x`]
    const found = async (path: string, other: string) =>
      (await statuses(url, spellings(path, other))).map((status) => status !== 404)
    expect(await found('/logout', '/LOGOUT')).toEqual(await found('/about', '/ABOUT'))
    expect(await found('/Leave', '/leave')).toEqual(await found('/Shop', '/shop'))
  })

  test('the landing page keeps its headers under every spelling', async () => {
    const url = await serve(framework())
    for (const path of ['/sso2/landing', '/SSO2/Landing/']) {
      const { status, headers } = await fetch(url + path)
      expect([status, headers.get('referrer-policy'), headers.get('cache-control')]).toEqual([
        400,
        'no-referrer',
        'no-store',
      ])
    }
  })
})
