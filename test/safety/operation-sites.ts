import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { type Sso2, type Sso2Options, sso2 } from '../../lib'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { present, sessionSecret } from '../flows/network'
import { startRedis, type TestRedis } from '../support/redis'

/** A site whose options can be changed while it runs, as a new release does. */
interface RunningSite {
  readonly url: string
  readonly sso: Sso2
  restart(options: Partial<Sso2Options>): Promise<void>
}

/** Sites of one organisation on one host, over one Redis of their own, with the defaults of the package. */
export interface Sites {
  emulator: Emulator
  redis: TestRedis
  sites: RunningSite[]
  /** A new platform on the same address, sessions kept, with another secret for its first client. */
  changeSecret(clientSecret: string): Promise<void>
  close(): Promise<void>
}

export const secretOf = (clientId: string) => `client-secret-of-the-${clientId}-paper-0123456789`

/** @param clientIds one site each, all on `localhost` */
export async function startSites(
  clientIds: string[],
  options: (clientId: string) => Partial<Sso2Options>,
): Promise<Sites> {
  const servers = clientIds.map(() => http.createServer())
  const urls = await Promise.all(
    servers.map(async (server) => {
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return `http://localhost:${(server.address() as AddressInfo).port}`
    }),
  )
  const clients = clientIds.map((clientId, index) => ({
    clientId,
    clientSecret: secretOf(clientId),
    landingPage: `${urls[index]}/sso2/landing`,
  }))
  const redis = await startRedis()
  let emulator = createEmulator(demoOptions({ clients, limits: { sessionsPerAccount: 1000 } }))
  const { port } = await emulator.listen(0)
  const made: Sso2[] = []
  const all: RunningSite[] = clientIds.map((clientId, index) => {
    const url = present(urls[index])
    const make = (more: Partial<Sso2Options>) => {
      const base = {
        ...emulator.siteOptions(clientId),
        siteUrl: url,
        redis: redis.url,
        sessionSecret,
        loginLimit: false,
      }
      const clock = { now: () => emulator.clock.now() }
      const sso = sso2({ ...base, clock, ...options(clientId), ...more } as Sso2Options)
      made.push(sso)
      return sso
    }
    let sso = make({})
    let app = pages(sso)
    servers[index]?.on('request', (req, res) => app(req, res))
    return {
      url,
      get sso() {
        return sso
      },
      restart: async (more) => {
        const old = sso
        sso = make(more)
        app = pages(sso)
        setTimeout(() => void old.close(), 1000).unref() // requests under way end with the release that took them
      },
    }
  })
  const sites: Sites = {
    get emulator() {
      return emulator
    },
    redis,
    sites: all,
    changeSecret: async (clientSecret) => {
      const saved = emulator.export()
      const [first, ...others] = saved.clients ?? []
      await emulator.close()
      emulator = createEmulator({ ...saved, clients: [{ ...present(first), clientSecret }, ...others] })
      await emulator.listen(port)
    },
    close: async () => {
      for (const server of servers) {
        server.close()
        server.closeAllConnections()
      }
      await Promise.all(made.map((sso) => sso.close()))
      await emulator.close()
      await redis.stop()
    },
  }
  return sites
}

function pages(sso: Sso2): express.Express {
  const app = express()
  app.use(sso)
  app.get('/keep', (req, res) => {
    Object.assign(req.session, { saved: 'kept' })
    res.json({})
  })
  app.get('/groups', (req, res, next) => {
    req.sso2.api.marketplaceGroups().then((groups) => res.json({ groups: groups.length }), next)
  })
  app.use((req, res) => {
    const { status, degraded, user } = req.sso2
    res.json({ status, degraded, accountId: user?.accountId, saved: Object.entries({ ...req.session }).length > 1 })
  })
  return app
}
