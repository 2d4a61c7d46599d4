import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { type Profiler, Session } from 'node:inspector'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import express from 'express'
import type { Sso2 } from '../../lib'
import { createEmulator } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { startRedis } from '../support/redis'
import { table } from './figures'

/*
 * How much of the package one request passes: its files and its functions, by V8's own call counts.
 *
 *   npm run bench:path
 *
 * The site runs in this process, from dist, over a real Redis. The emulator has a process of its own. Each step is counted in a
 * browser that has done the same once before, so that nothing is counted that happens only once in a process.
 */

const dist = path.resolve(process.env['BENCH_DIST'] ?? path.join(__dirname, '../../dist'))
const inDist = `${pathToFileURL(dist).href}/`
const secret = 'the secret of the benchmark, long enough'
const ada = { username: 'ada', password: 'correct-horse' }

/** The emulator's process. It receives the address of the landing page and sends its own address. */
async function serve(): Promise<void> {
  const [landingPage] = await once(process, 'message')
  const emulator = createEmulator({
    organisationId: 'bench-press',
    clients: [{ clientId: 'bench', clientSecret: secret, landingPage: String(landingPage) }],
    accounts: [
      { accountId: '1', username: ada.username, password: ada.password, name: 'Ada', email: 'ada@example.com' },
    ],
    limits: { sessionsPerAccount: 100 },
    tokenTime: 'real',
  })
  const { url } = await emulator.listen(0)
  process.send?.(url)
  await once(process, 'disconnect')
  await emulator.close()
}

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
    .filter(({ url }) => url.startsWith(inDist) && !url.startsWith(`${inDist}emulator/`))
    .map(({ functions }) => functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0).length)
    .filter((functions) => functions > 0)
  return { files: String(ours.length), functions: String(ours.reduce((sum, functions) => sum + functions, 0)) }
}

/** The program. With `serve` it is the emulator's process. */
export async function main(args: readonly string[]): Promise<void> {
  if (args[0] === 'serve') return serve()
  const redis = await startRedis()
  const server = http.createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const siteUrl = `http://localhost:${(server.address() as AddressInfo).port}`
  const platform = fork(path.join(__dirname, 'run.js'), ['path', 'serve'])
  platform.send(`${siteUrl}/sso2/landing`)
  const [url] = await once(platform, 'message')
  const { sso2 } = require(dist) as typeof import('../../lib')
  const sso = sso2({
    ssoUrl: `${url}/sso`,
    apiUrl: String(url),
    tokenUrl: `${url}/oauth/token`,
    clientId: 'bench',
    clientSecret: secret,
    organisationId: 'bench-press',
    siteUrl,
    sessionSecret: `${secret}, for sessions`,
    redis: redis.url,
    recheckSeconds: 1,
  })
  const app = express()
  app.use(sso)
  app.get('/{*any}', (req, res) => void res.json({ status: req.sso2.status }))
  const found: Passed[] = []
  server.on('request', counted(app, found))
  try {
    await visit(siteUrl)
    found.length = 0
    await visit(siteUrl)
    console.log(`${table(found.map((row) => ({ ...row })))}\n`)
  } finally {
    await end(sso, server, platform)
    await redis.stop()
  }
}

async function visit(siteUrl: string): Promise<void> {
  const browser = new Browser()
  await browser.visit(`${siteUrl}/`)
  await browser.visit(`${siteUrl}/warm`)
  await browser.submit(`${siteUrl}/login`, { ...ada, return_to: '/known' }, { from: `${siteUrl}/login` })
  await browser.visit(`${siteUrl}/warm`)
  await sleep(2100)
  await browser.visit(`${siteUrl}/checked`)
  await browser.submit(`${siteUrl}/logout`, { return_to: '/after' }, { from: `${siteUrl}/logout` })
}

async function end(sso: Sso2, server: http.Server, platform: ChildProcess): Promise<void> {
  await sso.close()
  server.closeAllConnections()
  server.close()
  platform.disconnect()
}
