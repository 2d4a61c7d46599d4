import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Platform } from '../../lib/examiner/platform'
import { siteSettings } from '../../lib/examiner/settings'

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
export type CreateSite = (env: Environment) => { app: RequestListener; stop(): void }

/** Pages that a site answers otherwise: a status, or a page. */
export type Changes = Readonly<Record<string, number | string>>

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
