import { number } from '../support/figures'
import { Client } from './client'
import { Load, pageRequest } from './load'
import type { Options } from './options'
import { logInAtSite } from './readers'
import { between, countsOf } from './redis-counts'
import { readerName, type Setup } from './setup'

/*
 * Many at once: visitors who never come back with a cookie, and one session that becomes stale under a crowd of requests.
 */

const CONNECTIONS = 64
const STALE_SECONDS = 361

/** New visitors are sent to Identify, and nothing may be kept of those who never land. */
export async function flood(setup: Setup, { quick }: Options): Promise<Record<string, string>[]> {
  const requests = quick ? 2000 : 50_000
  const server = await setup.start('sso2')
  const load = new Load({ port: server.port, requests: [pageRequest('')], status: 302, body: undefined })
  await load.open(CONNECTIONS)
  const before = await countsOf([setup.redis])
  const { perSecond, unexpected } = await load.run(requests)
  const { commands, bytes, keys } = between(before, await countsOf([setup.redis]))
  load.close()
  await server.stop()
  const what = `${number(requests)} visitors without cookies`
  return [
    { what, of: 'sent to Identify', figure: number(requests - unexpected) },
    { what, of: 'a second', figure: number(perSecond) },
    { what, of: 'Redis commands', figure: number(commands) },
    { what, of: 'Redis keys', figure: number(keys) },
    { what, of: 'Redis bytes', figure: number(bytes) },
  ]
}

/** Two processes of one site, and a thousand requests of one session at the moment when it is stale. */
export async function stampede(setup: Setup, { quick }: Options): Promise<Record<string, string>[]> {
  const requests = quick ? 100 : 500
  const servers = [await setup.start('sso2', { port: setup.sitePort }), await setup.start('sso2')]
  const origin = `http://localhost:${setup.sitePort}`
  const client = new Client()
  await logInAtSite(client, origin, readerName(1))
  const request = pageRequest(client.cookieHeader(origin))
  const loads = servers.map(
    ({ port }) => new Load({ port, requests: [request], status: 200, body: '<p>Good morning, Ada Lindqvist</p>' }),
  )
  for (const load of loads) await load.open(requests)
  for (const load of loads) await load.run(requests)
  setup.emulator.clock.advance(STALE_SECONDS)
  for (const server of servers) await server.advance(STALE_SECONDS)
  const asked = () => setup.emulator.calls({ operation: 'sessionstatus' }).length
  const before = asked()
  const bursts = await Promise.all(loads.map((load) => load.run(requests)))
  for (const load of loads) load.close()
  await Promise.all(servers.map((server) => server.stop()))
  const unserved = bursts.reduce((sum, { unexpected }) => sum + unexpected, 0)
  const what = `${number(2 * requests)} stale requests at once over two processes`
  return [
    { what, of: 'Session Status calls', figure: number(asked() - before) },
    { what, of: 'not served as logged in', figure: number(unserved) },
    { what, of: 'p50 · p99 ms', figure: bursts.map(({ p50, p99 }) => `${number(p50)} · ${number(p99)}`).join('; ') },
  ]
}
