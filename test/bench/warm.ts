import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import path from 'node:path'
import { Redis } from 'ioredis'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { freePort } from '../support/ports'
import { startRedis } from '../support/redis'

/*
 * What a warm request of a logged-in reader costs, side by side: bare express, express-session with connect-redis by hand
 * ("plain"), and this package (from dist: build first).
 *
 *   npm run build && node test/bench/run.js warm
 *
 * Each server has a process of its own; they take turns, the medians of the rounds count. CPU time is the servers'.
 */

const rounds = 7
const requests = 3000
const sessionSecret = 'a-session-secret-of-more-than-32-bytes'
const kinds = ['bare', 'plain', 'sso2'] as const
type Kind = (typeof kinds)[number]

interface Server {
  readonly kind: Kind
  readonly port: number
  readonly child: ChildProcess
  cookie: string
}

interface Round {
  readonly cpu: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly commands: number
}

async function start(kind: Kind, options: object): Promise<Server> {
  const child = fork(path.join(__dirname, 'warm-server.js'), {
    execArgv: ['--no-flush-bytecode', '--no-memory-reducer'],
    env: { ...process.env, NODE_ENV: 'test' },
  })
  child.send({ kind, ...options })
  const [port] = (await once(child, 'message')) as [number]
  return { kind, port, child, cookie: '' }
}

async function cpuOf({ child }: Server): Promise<number> {
  child.send('cpu')
  const [{ cpu }] = (await once(child, 'message')) as [{ cpu: NodeJS.CpuUsage }]
  return cpu.user + cpu.system
}

/** Logs in as a browser does, and gives the Cookie header. */
async function logIn(emulator: Emulator, server: Server): Promise<string> {
  const url = `http://localhost:${server.port}`
  const browser = new Browser()
  if (server.kind === 'plain') await browser.visit(`${url}/log-in`)
  if (server.kind === 'sso2') {
    await browser.visit(`${url}/login`)
    await browser.submit(`${url}/login`, { username: 'ada', password: 'correct-horse', return_to: '/page' })
  }
  const { body } = await browser.visit(`${url}/page`)
  if (body !== `<p>Good morning, ${server.kind === 'bare' ? 'stranger' : 'Ada Lindqvist'}</p>`)
    throw new Error(`${server.kind} does not know the reader: ${body} (${emulator.calls().length} calls)`)
  const own = browser.cookies.filter(({ name, host }) => host === 'localhost' && name.startsWith('sso2.sid'))
  return own.map(({ name, value }) => `${name}=${value}`).join('; ')
}

function get({ port, cookie }: Server, agent: http.Agent): Promise<void> {
  const headers = {
    accept: 'text/html',
    'sec-fetch-dest': 'document',
    cookie,
    'user-agent': 'Mozilla/5.0 Firefox/140.0',
  }
  return new Promise((resolve, reject) => {
    http
      .get({ host: '127.0.0.1', port, path: '/page', agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`HTTP ${answer.statusCode}`))
        answer.resume().once('end', resolve)
      })
      .once('error', reject)
  })
}

async function load(server: Server, connections: number): Promise<number[]> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const latencies: number[] = []
  let left = requests
  const caller = async () => {
    while (left-- > 0) {
      const before = performance.now()
      await get(server, agent)
      latencies.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: connections }, caller))
  agent.destroy()
  return latencies.sort((a, b) => a - b)
}

async function commandsOf(redis: Redis): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))?.[1])
}

async function measure(server: Server, connections: number, redis: Redis): Promise<Round> {
  const [cpu, commands, begin] = [await cpuOf(server), await commandsOf(redis), performance.now()]
  const latencies = await load(server, connections)
  const seconds = (performance.now() - begin) / 1000
  return {
    cpu: ((await cpuOf(server)) - cpu) / requests,
    perSecond: requests / seconds,
    p50: latencies[Math.floor(requests * 0.5)] ?? 0,
    p99: latencies[Math.floor(requests * 0.99)] ?? 0,
    commands: ((await commandsOf(redis)) - commands - 1) / requests,
  }
}

const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

function report(kind: Kind, connections: number, all: Round[], against: Round[]): Record<string, unknown> {
  const of = (name: keyof Round, list = all) => median(list.map((round) => round[name]))
  const ratio = (name: keyof Round) => (of(name) / of(name, against)).toFixed(2)
  return {
    server: kind,
    connections,
    'CPU us': of('cpu').toFixed(0),
    'CPU / plain': ratio('cpu'),
    'requests/s': of('perSecond').toFixed(0),
    'per s / plain': ratio('perSecond'),
    'p50 / plain': ratio('p50'),
    'p99 / plain': ratio('p99'),
    'Redis commands': of('commands').toFixed(2),
  }
}

async function main(): Promise<void> {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const port = await freePort()
  const siteUrl = `http://localhost:${port}`
  const [client] = demoOptions().clients ?? []
  const clients = [{ clientSecret: '', ...client, clientId: 'bench', landingPage: `${siteUrl}/sso2/landing` }]
  const emulator = createEmulator(demoOptions({ clients, tokenTime: 'real' }))
  await emulator.listen(0)
  const options = { redisUrl: server.url, sessionSecret, platform: { ...emulator.siteOptions('bench'), siteUrl } }
  const servers = [await start('bare', {}), await start('plain', options), await start('sso2', { ...options, port })]
  for (const one of servers) one.cookie = await logIn(emulator, one)
  const rows = []
  for (const connections of [32, 1]) {
    const results = new Map<Kind, Round[]>(kinds.map((kind) => [kind, []]))
    for (const one of servers) await load(one, connections)
    for (let round = 0; round < rounds; round += 1)
      for (const one of servers) results.get(one.kind)?.push(await measure(one, connections, redis))
    const plain = results.get('plain') ?? []
    for (const kind of kinds) rows.push(report(kind, connections, results.get(kind) ?? [], plain))
  }
  console.table(rows)
  for (const { child } of servers) child.kill()
  await emulator.close()
  redis.disconnect()
  await server.stop()
}

void main()
