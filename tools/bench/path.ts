import { once } from 'node:events'
import http from 'node:http'
import { type Profiler, Session } from 'node:inspector'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import express from 'express'
import { Browser } from '../../test/support/agent'
import { table } from '../figures'
import { dist } from './machine'
import { openSetup, password, readerName } from './setup'

/*
 * How much of the package one request passes: its files and its functions, by V8's own call counts. `npm run bench -- path`
 *
 * The site runs in this process, from dist, over a real Redis. The emulator is of the sources, which are not counted. Each step is
 * counted in a browser that has done the same once before, so that nothing is counted that happens only once in a process.
 */

const inDist = `${pathToFileURL(dist).href}/`

/** What one request passed. */
interface Passed {
  readonly request: string
  readonly files: string
  readonly functions: string
}

/** Counts the functions of the package that run between the beginning and the end of each response. */
function counted(app: express.Express, found: Passed[]): http.RequestListener {
  const session = new Session()
  session.connect()
  session.post('Profiler.enable')
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  // a session of this very thread calls back before `post` returns
  const take = (each: (result: Profiler.ScriptCoverage[]) => void) =>
    session.post('Profiler.takePreciseCoverage', (_error, { result }) => each(result))
  return (req, res) => {
    const { pathname } = new URL(req.url ?? '/', 'http://site')
    res.once('finish', () => take((result) => found.push({ request: `${req.method} ${pathname}`, ...sumOf(result) })))
    take(() => {})
    app(req, res)
  }
}

function sumOf(result: readonly Profiler.ScriptCoverage[]): Omit<Passed, 'request'> {
  const ours = result
    .filter(({ url }) => url.startsWith(inDist))
    .map(({ functions }) => functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length)
    .filter((functions) => functions > 0)
  return { files: String(ours.length), functions: String(ours.reduce((sum, functions) => sum + functions, 0)) }
}

export async function path(): Promise<void> {
  const setup = await openSetup(1)
  const { siteUrl } = setup.site
  const { sso2 } = require(dist) as typeof import('../../lib')
  const sso = sso2({ ...setup.site, redis: setup.redisServer.url, recheckSeconds: 1 })
  const app = express()
  app.use(sso)
  app.get('/{*any}', (req, res) => void res.json({ status: req.sso2.status }))
  const found: Passed[] = []
  const server = http.createServer(counted(app, found)).listen(setup.sitePort, '127.0.0.1')
  await once(server, 'listening')
  try {
    await visit(siteUrl)
    found.length = 0
    await visit(siteUrl)
    console.log(`${table(found.map((row) => ({ ...row })))}\n`)
  } finally {
    await sso.close()
    server.closeAllConnections()
    server.close()
    await setup.close()
  }
}

async function visit(siteUrl: string): Promise<void> {
  const browser = new Browser()
  await browser.visit(`${siteUrl}/`)
  await browser.visit(`${siteUrl}/warm`)
  await browser.submit(`${siteUrl}/login`, { username: readerName(0), password, return_to: '/known' })
  await browser.visit(`${siteUrl}/warm`)
  await sleep(2100)
  await browser.visit(`${siteUrl}/checked`)
  await browser.submit(`${siteUrl}/logout`, { return_to: '/after' })
}
