import express, { type Express } from 'express'
import { type RunningSite, startSite } from '../support/site'

/* Our routes are found as the application finds its own: `strict routing` and `case sensitive routing` decide. */

let site: RunningSite
afterEach(() => site.close())

async function serve(app: Express, routes: object = {}): Promise<string> {
  site = await startSite({
    options: { routes },
    build: (sso) => app.use(sso).get(['/about', '/Shop/'], (_req, res) => void res.send('of the site')),
  })
  return `http://127.0.0.1:${new URL(site.url).port}` // not every system resolves the host of the site
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
      const said = [status, headers.get('referrer-policy'), headers.get('cache-control')]
      expect(said).toEqual([400, 'no-referrer', 'no-store'])
    }
  })
})
