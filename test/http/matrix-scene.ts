import { randomUUID } from 'node:crypto'
import express, { type RequestHandler } from 'express'
import { Redis } from 'ioredis'
import { type Sso2, sso2 } from '../../lib'
import { createEmulator, demoOptions } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { browserCalls } from '../support/calls'
import { startFront, startRedisFront } from '../support/front'
import { startRedis, type TestRedis } from '../support/redis'
import {
  addPages,
  Gates,
  healthWithStore,
  openPort,
  recordAnswer,
  redisUrl,
  type Sent,
  sessionSecret,
} from '../support/setup'

/** Bound on one Session Status call in these tests, in milliseconds. */
export const STATUS_MS = 700

export interface SceneOptions {
  /** A Redis of the scene's own; otherwise all share one. */
  ownRedis?: boolean
  /** So many processes: requests go to them in turn. */
  processes?: number
  /** How far tokens may be off for the platform, in seconds. */
  leewaySeconds?: number
}

export type Scene = Awaited<ReturnType<typeof startScene>>

/** One site with everything around it that can break. */
export async function startScene(options: SceneOptions = {}) {
  const { server, url } = await openPort('morning')
  const clients = [
    { clientId: 'morning', clientSecret: `client-secret-${randomUUID()}`, landingPage: `${url}/sso2/landing` },
  ]
  const limits = { sessionsPerAccount: 1000, leewaySeconds: options.leewaySeconds ?? 0 }
  const emulator = createEmulator(demoOptions({ clients, limits }))
  const { port } = new URL((await emulator.listen(0)).url)
  const ssoFront = await startFront(Number(port))
  const redisServer = options.ownRedis ? await startRedis() : undefined
  const redisAddress = redisServer?.url ?? redisUrl()
  const storeFront = await startRedisFront(Number(new URL(redisAddress).port))
  const redis = new Redis(redisAddress)
  redis.on('error', () => {})
  const prefix = `fault-${randomUUID()}:`
  const [sent, gates]: [Sent[], Gates] = [[], new Gates()]
  let sites: { sso: Sso2; app: RequestHandler }[] = []
  const start = () =>
    Array.from({ length: options.processes ?? 1 }, () => {
      const sso = sso2({
        ...emulator.siteOptions('morning'),
        ssoUrl: `http://127.0.0.1:${ssoFront.port}/sso`,
        siteUrl: url,
        sessionSecret,
        redis: `redis://127.0.0.1:${storeFront.port}`,
        session: { prefix },
        clock: { now: () => emulator.clock.now() + scene.skew * 1000 },
        timeoutMs: STATUS_MS,
        loginLimit: false,
      })
      const app = express()
      app.use(sso)
      return { sso, app: addPages(app, sso, gates) }
    })
  let turn = 0
  server.on('request', (req, res) => {
    recordAnswer(req, res, sent)
    turn += 1
    sites[turn % sites.length]?.app(req as never, res as never, () => {})
  })
  const stop = () => Promise.all(sites.map(({ sso }) => sso.close()))
  const scene = {
    url,
    emulator,
    /** Stands in front of the SSO system. */
    ssoFront,
    /** Stands in front of Redis. */
    storeFront,
    redisServer: redisServer as TestRedis,
    /** A connection past all fronts. */
    redis,
    prefix,
    /** How far the site's clock is ahead, in seconds. */
    skew: 0,
    /** Everything that the site has answered. */
    sent,
    gates,
    /** What a test has started beside it. */
    alsoClose: [] as (() => Promise<unknown>)[],
    sso: () => sites[0]?.sso as Sso2,
    browser: () => new Browser({ now: () => emulator.clock.now() }),
    count: (operation: string) => browserCalls(emulator, operation).length,
    /** New processes take the place of the old ones, as in a deployment. They may not have reached Redis yet. */
    restart: async () => {
      await stop()
      sites = start()
    },
    /** Redis answers every process: a new one may still connect when a test begins. */
    untilStored: async () => void (await Promise.all(sites.map(({ sso }) => healthWithStore(sso)))),
    close: async () => {
      server.close()
      server.closeAllConnections()
      await stop()
      await emulator.close()
      await Promise.all([ssoFront.down(), storeFront.down()])
      redis.disconnect()
      await redisServer?.stop()
      await Promise.all(scene.alsoClose.map((close) => close()))
    },
  }
  sites = start()
  await scene.untilStored()
  return scene
}
