import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Express } from 'express'
import { type Sso2, type Sso2Options, sso2 } from '../../lib'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { sessionSecret } from './setup'

/** Sites of one emulator, each with a name and options of its own, in memory. */
export type Sites = Awaited<ReturnType<typeof startSites>>

type Addresses = (name: string) => string

/** What a site is made with; pages are added before and after `sso`. */
export interface SiteOptions {
  readonly options: (addresses: Addresses) => Partial<Sso2Options>
  readonly before?: (app: Express) => void
  readonly after?: (app: Express, sso: Sso2) => void
}

/** Starts them all on one port, told apart by their hosts: `sv.localhost`. */
export async function startSites(sites: Readonly<Record<string, SiteOptions>>) {
  const server = http.createServer({ keepAliveTimeout: 60_000 }) // or a busy browser sends into a connection just closed
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const at = (name: string, path = '') => `http://${name}.localhost:${port}${path}`
  const clients = Object.keys(sites).map((name) => ({
    clientId: name,
    clientSecret: `client-secret-of-the-site-${name}-0123456789`,
    name,
    landingPage: at(name, '/sso2/landing'),
  }))
  const emulator = createEmulator(demoOptions({ clients }))
  await emulator.listen(0)
  const made = new Map(
    Object.entries(sites).map(([name, site]) => [`${name}.localhost:${port}`, start(site, name, emulator, at)]),
  )
  server.on('request', (req, res) => {
    const site = made.get(req.headers.host ?? '')
    if (site) return site.app(req, res)
    // a client of a server that had this port before
    res.statusCode = 404
    return res.end()
  })
  return {
    emulator,
    at,
    close: async () => {
      server.close()
      server.closeAllConnections()
      for (const { sso } of made.values()) await sso.close()
      await emulator.close()
    },
  }
}

function start({ options, before, after }: SiteOptions, name: string, emulator: Emulator, at: Addresses) {
  const sso = sso2({
    ...emulator.siteOptions(name),
    siteUrl: at(name),
    sessionSecret,
    clock: emulator.clock,
    loginLimit: false,
    ...options(at),
  })
  const app = express()
  before?.(app)
  app.use(sso)
  after?.(app, sso)
  app.get('/sensitive', sso.requireLogin({ fresh: true }), (_req, res) => void res.send('sensitive'))
  app.use((req, res) => void res.send(`${req.sso2.status} at ${req.originalUrl}`))
  return { app, sso }
}
