import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { SiteFacts } from '../../lib/examiner/facts'
import { Platform } from '../../lib/examiner/platform'
import { siteSettings } from '../../lib/examiner/settings'

/** Facts of the sites that single checks are tried on. */
export const factsOf = (url: string): SiteFacts => ({
  url,
  publicPage: `${url}/`,
  userPage: `${url}/`,
  loginPage: `${url}/login`,
  usernameField: 'username',
  passwordField: 'password',
  returnField: 'next',
  logout: { page: `${url}/`, action: `${url}/logout`, method: 'POST' },
  logoutAll: { page: `${url}/`, action: `${url}/logout-all`, method: 'POST' },
  landing: `${url}/sso2/landing`,
  isIdentifiedAlways: true,
})

/** Runs a site and a platform for as long as some work takes. Without a site, each connection ends at once. */
export async function beside(
  site: RequestListener | undefined,
  work: (platform: Platform) => Promise<void>,
): Promise<void> {
  const server = http.createServer((req, res) => (site ? site(req, res) : res.socket?.destroy()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const platform = new Platform(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, '/sso2/landing')
  await platform.listen(0)
  try {
    await work(platform)
  } finally {
    await platform.close()
    server.close()
    server.closeAllConnections()
  }
}

export type Environment = Readonly<Record<string, unknown>>
type CreateSite = (env: Environment) => { app: RequestListener; stop(): void }
/** The good site by hand. */
export const { createSite } = require('./sites/by-hand.cjs') as { createSite: CreateSite }

/** Pages that a site answers otherwise: a status, a page, or how. */
export type Changes = Readonly<Record<string, number | string | RequestListener>>

/** Runs a site such as that by hand, with changed settings and pages, beside a platform. */
export function besideMade(
  createSite: CreateSite,
  { env = {}, pages = {} }: { env?: Environment; pages?: Changes },
  work: (platform: Platform) => Promise<void>,
): Promise<void> {
  let app: RequestListener
  return beside(
    (req, res) => {
      const changed = pages[`${req.method} ${req.url?.split('?', 1)}`]
      if (changed === undefined) return app(req, res)
      if (typeof changed === 'function') return changed(req, res)
      res.writeHead(typeof changed === 'number' ? changed : 200, { 'content-type': 'text/html' }).end(String(changed))
    },
    async (platform) => {
      const settings = siteSettings(platform.addresses).map(({ variable, value }) => [variable, value])
      const site = createSite({ ...Object.fromEntries(settings), ...env })
      app = site.app
      await work(platform).finally(site.stop)
    },
  )
}
