import { ratio, show, spread } from '../support/figures'
import { browserHeaders, Load, pageRequest } from './load'
import type { Server } from './machine'
import type { Options } from './options'
import { type Contestant, compete, type Measured, series } from './rounds'
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

/** The same visitors at a bare express and at a site of this package. */
export async function compareVisitors(setup: Setup, { rounds, quick }: Options): Promise<Record<string, string>[]> {
  const servers = [await setup.start('bare'), await setup.start('sso2')] as const
  const lines: Record<string, string>[] = []
  for (const { name, headers } of visitors) {
    const visit = (server: Server): Contestant => {
      const target = { requests: [pageRequest('', headers)], status: 200, body: '<p>Good morning, stranger</p>' }
      return { server, load: new Load({ ...target, port: server.port }), masters: [setup.redis], rounds: [] }
    }
    const [bare, site] = [visit(servers[0]), visit(servers[1])]
    await compete([bare, site], rounds, CONNECTIONS, quick ? REQUESTS / 10 : REQUESTS)
    const of = (where: Contestant, what: keyof Measured) => series(where, CONNECTIONS, what)
    lines.push({
      visitor: `${name} without cookies`,
      'CPU of bare express, us': show(spread(of(bare, 'cpu'))),
      'CPU here, us': show(spread(of(site, 'cpu'))),
      'CPU / bare': show(ratio(of(site, 'cpu'), of(bare, 'cpu')), 2),
      'requests/s / bare': show(ratio(of(site, 'perSecond'), of(bare, 'perSecond')), 2),
      'Redis commands': show(spread(of(site, 'commands')), 2),
    })
  }
  await Promise.all(servers.map((server) => server.stop()))
  return lines
}
