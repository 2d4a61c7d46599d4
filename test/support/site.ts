import { randomUUID } from 'node:crypto'
import express, { type Express } from 'express'
import { Redis } from 'ioredis'
import type { Sso2, Sso2Options } from '../../lib'
import type { EmulatorOptions } from '../../lib/emulator'
import { Browser } from './agent'
import { browserCalls } from './calls'
import {
  ada,
  addPages,
  type Build,
  type Gates,
  healthWithStore,
  loggedInBrowser,
  openPort,
  pages,
  redisUrl,
  serve,
  startEmulator,
  usualOptions,
} from './setup'

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
  const emulator = await startEmulator(clients, rest.emulator)
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
      await Promise.all(processes.map((one) => one.close()))
      await emulator.close()
      redis.disconnect()
    },
  }
}

export const loggedInBrowserAt = (setup: RunningSite, account = ada): Promise<Browser> =>
  loggedInBrowser({ ...setup, morning: setup }, account)
