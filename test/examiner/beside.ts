import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Platform } from '../../lib/examiner/platform'

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
