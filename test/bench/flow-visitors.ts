import { ratio, show, spread } from './figures'
import { type Burst, browserHeaders, Load, pageRequest, untilGood } from './load'
import type { Server } from './machine'
import type { Options } from './options'
import { between, countsOf } from './redis-counts'
import type { Setup } from './setup'

/*
 * Visitors who bring no cookie and may not be redirected: what is served to them passes through this package all the same.
 */

const { 'sec-fetch-dest': _dest, 'sec-fetch-mode': _mode, ...typed } = browserHeaders
const visitors = [
  { name: 'API client', headers: { accept: 'application/json', 'user-agent': 'bench/1.0' } },
  {
    name: 'bot',
    headers: { ...typed, 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)' },
  },
] as const
const REQUESTS = 3000
const CONNECTIONS = 32

interface Visited {
  readonly cpu: number
  readonly perSecond: number
  readonly commands: number
}

/** The same visitors at a bare express and at a site of this package. */
export async function compareVisitors(setup: Setup, { rounds, quick }: Options): Promise<Record<string, string>[]> {
  const servers = { bare: await setup.start('bare'), site: await setup.start('sso2') }
  const requests = quick ? REQUESTS / 10 : REQUESTS
  const lines: Record<string, string>[] = []
  for (const { name, headers } of visitors) {
    const seen: Record<'bare' | 'site', Visited[]> = { bare: [], site: [] }
    for (let round = -1; round < rounds; round += 1)
      for (const where of ['bare', 'site'] as const) {
        const visited = await untilGood(() => burst(setup, servers[where], pageRequest('', headers), requests))
        if (round >= 0) seen[where].push(visited)
      }
    const of = (where: 'bare' | 'site', what: keyof Visited) => seen[where].map((one) => one[what])
    lines.push({
      visitor: `${name} without cookies`,
      'CPU of bare express, us': show(spread(of('bare', 'cpu'))),
      'CPU here, us': show(spread(of('site', 'cpu'))),
      'CPU / bare': show(ratio(of('site', 'cpu'), of('bare', 'cpu')), 2),
      'requests/s / bare': show(ratio(of('site', 'perSecond'), of('bare', 'perSecond')), 2),
      'Redis commands': show(spread(of('site', 'commands')), 2),
    })
  }
  await Promise.all(Object.values(servers).map((server) => server.stop()))
  return lines
}

async function burst({ redis }: Setup, server: Server, request: Buffer, requests: number): Promise<Visited & Burst> {
  const load = new Load({ port: server.port, requests: [request], status: 200, body: '<p>Good morning, stranger</p>' })
  await load.open(CONNECTIONS)
  const [counts, used] = [await countsOf([redis]), await server.usage()]
  const done = await load.run(requests)
  const cpu = (await server.usage()).cpu - used.cpu
  const { commands } = between(counts, await countsOf([redis]))
  load.close()
  return { ...done, cpu: cpu / requests, commands: commands / requests }
}
