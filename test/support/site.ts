import { randomUUID } from 'node:crypto'
import type http from 'node:http'
import express, { type Express } from 'express'
import { Redis } from 'ioredis'
import { type Sso2, type Sso2Options, sso2 } from '../../lib'
import { createEmulator, demoOptions, type EmulatorOptions } from '../../lib/emulator'
import { Browser } from './agent'
import { browserCalls } from './calls'
import {
  ada,
  addPages,
  Gates,
  healthWithStore,
  loggedInBrowser,
  openPort,
  type Port,
  pages,
  redisUrl,
  usualOptions,
} from './setup'

/** Builds the site. A page of a test waits at a gate, until the test opens the gate. */
type Build = (sso: Sso2, gates: Gates) => http.RequestListener

export interface SiteOptions {
  options?: Partial<Sso2Options>
  emulator?: EmulatorOptions
  clientId?: string
  /** `false`: what the package makes of the `clientId`. */
  prefix?: false
  /** Default: morning.localhost. */
  host?: string
  /** Where below the host the site stands, as the world sees it. */
  mountPath?: string
  /** Where the platform sends browsers to, below the mount path. Default: the landing page of the site. */
  landingPath?: string
  build?: Build
}

/** One process of the site: cookies do not separate ports, so that a browser of the site is known to each. */
export type Process = ReturnType<typeof serve>

/** One emulator, and one site over a real Redis in one process or more. */
export type RunningSite = Awaited<ReturnType<typeof startSite>>

/** A site with pages of its own before those of the flows. */
export const withPages =
  (add: (app: Express, sso: Sso2, gates: Gates) => void): Build =>
  (sso, gates) => {
    const app = express().use(sso)
    add(app, sso, gates)
    return addPages(app, sso, gates)
  }

export async function startSite({ options = {}, build = pages, mountPath = '', ...rest }: SiteOptions = {}) {
  const port = await openPort('morning', rest.host)
  const { url } = port
  const { clientId = 'morning', landingPath = '/sso2/landing' } = rest
  const client = { clientId, clientSecret: 'client-secret-of-the-morning-paper-0123456789' }
  const clients = [{ ...client, name: 'Morning', landingPage: url + mountPath + landingPath }]
  const limits = { sessionsPerAccount: 100_000, ...rest.emulator?.limits }
  const emulator = createEmulator(demoOptions({ clients, ...rest.emulator, limits }))
  await emulator.listen(0)
  const prefix = `situation-${randomUUID()}:`
  const base: Partial<Sso2Options> = {
    ...usualOptions(emulator, clientId, { url: url + mountPath, prefix }),
    ...options,
    session: { ...(rest.prefix === false ? {} : { prefix }), ...options.session },
  }
  const first = serve(port, base, build)
  const processes = [first]
  // a client that is closed before it has connected keeps Jest from its end for two seconds
  const redis = new Redis(typeof base.redis === 'string' ? base.redis : redisUrl(), { lazyConnect: true })
  return {
    ...first,
    emulator,
    redis,
    prefix,
    browser: () => new Browser({ now: () => emulator.clock.now() }),
    countCalls: (operation: string) => browserCalls(emulator, operation).length,
    /** One more process of the same site, which is there when Redis answers it. */
    another: async (more: Partial<Sso2Options>, otherBuild: Build = build) => {
      const other = serve(await openPort('morning'), { ...base, ...more }, otherBuild)
      processes.push(other)
      await healthWithStore(other.sso)
      return other
    },
    close: async () => {
      for (const { server: open } of processes) {
        open.close()
        open.closeAllConnections()
      }
      await Promise.all(processes.map(({ sso }) => sso.close()))
      await emulator.close()
      redis.disconnect()
    },
  }
}

function serve({ server, url }: Port, options: Partial<Sso2Options>, build: Build) {
  const sso = sso2(options)
  const gates = new Gates()
  server.on('request', build(sso, gates))
  return { url, sso, gates, server }
}

/** A browser that is logged in. */
export const loggedInBrowserAt = (setup: RunningSite, account = ada): Promise<Browser> =>
  loggedInBrowser({ ...setup, morning: setup }, account)
