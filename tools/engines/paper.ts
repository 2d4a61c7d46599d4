import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBalancer } from '../histories/balancer'
import { startPlatform } from './platform'
import type { StoreAddress } from './topologies'

/*
 * The newspaper: processes of one site behind a proxy, over one store, and the platform.
 */

const READY_MS = 30_000
/** So long a process that gets no request any more has for those that have begun. */
const DRAIN_MS = 1000
const COMMON = {
  sessionSecret: 'the-session-secret-of-the-paper-0123456789',
  loginLimit: { attempts: 10_000, perSeconds: 60 },
}

/** Options of a process beyond the common ones, as `sso2()` takes them. */
export interface SiteOptions {
  readonly recheckSeconds?: number
}

/** One process of the site. */
export interface SiteProcess {
  readonly port: number
  /** SIGTERM; resolves when it is gone. @throws where it did not end by itself */
  end(): Promise<void>
}

/** The paper. */
export type Paper = Awaited<ReturnType<typeof openPaper>>

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Opens it, without a process. */
export async function openPaper(store: StoreAddress, readers: number) {
  let ports: readonly number[] = []
  const proxy = await startBalancer(() => ports)
  const url = `http://paper.localhost:${proxy.port}`
  const platform = await startPlatform(url, readers)
  return {
    /** Its address, by way of the proxy. */
    url,
    port: proxy.port,
    platform,
    /** Starts processes, and lets the proxy know of them once they are well. */
    startAll: async (each: readonly SiteOptions[], { isBehindProxy } = { isBehindProxy: true }) => {
      const common = { ...platform.siteOptions('paper'), ...COMMON, siteUrl: url, store }
      const sites = await Promise.all(each.map((options) => launch({ ...common, ...options })))
      if (isBehindProxy) ports = [...ports, ...sites.map(({ port }) => port)]
      return sites
    },
    /** Ends processes, once the proxy knows of them no more. @throws where one did not end by itself */
    endAll: async (sites: readonly SiteProcess[]) => {
      const ending = sites.map(({ port }) => port)
      ports = ports.filter((port) => !ending.includes(port))
      await sleep(DRAIN_MS)
      await Promise.all(sites.map((site) => site.end()))
    },
    close: async () => {
      proxy.close()
      await platform.close()
    },
  }
}

async function launch(options: object): Promise<SiteProcess> {
  const child = fork(path.join(__dirname, 'site.js'), [], { env: { ...process.env, NODE_ENV: 'test' } })
  running.add(child)
  const ended = once(child, 'exit').then(([code, signal]) => {
    running.delete(child)
    return code === 0 ? undefined : `a process of the site ended with ${code ?? signal}`
  })
  child.send(options)
  const early = ended.then((why) => Promise.reject(new Error(why ?? 'a process of the site ended before it was ready')))
  early.catch(() => {})
  const ready = once(child, 'message', { signal: AbortSignal.timeout(READY_MS) })
  const [{ port }] = (await Promise.race([ready, early])) as [{ port: number }]
  return {
    port,
    end: async () => {
      child.kill('SIGTERM')
      const why = await ended
      if (why !== undefined) throw new Error(why)
    },
  }
}
