import { once } from 'node:events'
import path from 'node:path'
import { createEmulator, type EmulatorOptions } from '../../lib/emulator'
import { number, table } from '../support/figures'
import { signJwt } from '../support/oracle'
import { send } from './client'
import { forkOnFirstCore, leaveFirstCore } from './machine'
import { readOptions } from './options'

/*
 * How many Session Status calls the emulator answers a second, on one core, with few sessions and with many.
 *
 *   node test/bench/run.js emulator
 *
 * The emulator has a process, and so a core, to itself; the calls come from this one, 32 at a time.
 */

const secret = 'the secret of the benchmark, long enough'
const parallel = 32

function options(count: number): EmulatorOptions {
  const clients = [{ clientId: 'bench', clientSecret: secret, landingPage: 'http://localhost:1/landing' }]
  const sessions = Array.from({ length: count }, (_, n) => ({
    sid: `sid-${n}`,
    browser: `browser-${n}`,
    status: 'anon' as const,
  }))
  return { organisationId: 'bench-press', clients, accounts: [], sessions, tokenTime: 'real' }
}

/** The emulator's process: told how many sessions, tells its address; told anything else, tells the CPU time used. */
async function serve(): Promise<void> {
  const [count] = await once(process, 'message')
  process.on('message', () => process.send?.(process.cpuUsage()))
  const { url } = await createEmulator(options(Number(count))).listen()
  process.send?.(url)
  await once(process, 'disconnect')
}

async function measure(count: number, seconds: number): Promise<Record<string, string>> {
  const child = forkOnFirstCore(path.join(__dirname, 'run.js'), ['emulator', 'serve'])
  const ask = async (message: number | string) => {
    child.send(message)
    const [answer] = await once(child, 'message')
    return answer
  }
  const url: string = await ask(count)
  await load(url, count, 1)
  const before: NodeJS.CpuUsage = await ask('cpu')
  const latencies = await load(url, count, seconds)
  const after: NodeJS.CpuUsage = await ask('cpu')
  child.kill()
  const cpu = (after.user + after.system - before.user - before.system) / 1e6
  latencies.sort((a, b) => a - b)
  return {
    'sessions of the emulator': number(count),
    'calls/s': number(latencies.length / seconds),
    'calls/s of CPU time': number(latencies.length / cpu),
    'p50 ms': number(latencies[Math.floor(latencies.length * 0.5)] ?? Number.NaN, 2),
    'p99 ms': number(latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN, 2),
  }
}

/** Calls for a while and gives how long each took, in milliseconds. */
async function load(url: string, count: number, duration: number): Promise<number[]> {
  const end = performance.now() + duration * 1000
  const latencies: number[] = []
  const caller = async (first: number) => {
    for (let n = first; performance.now() < end; n += parallel) {
      const start = performance.now()
      await sessionStatus(url, `sid-${(n * 7919) % count}`)
      latencies.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: parallel }, (_, n) => caller(n)))
  return latencies
}

async function sessionStatus(url: string, sid: string): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const common = { cid: 'bench', nbf: now, iat: now, exp: now + 10, iss: 'bench-press', aud: 'sso-service' }
  const body = JSON.stringify({ t: signJwt({ ...common, sid, lks: 'anon', ipa: '203.0.113.7', uas: 'bench' }, secret) })
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) }
  const { answer } = await send(new URL(`${url}/sso/sessionstatus`), 'POST', headers, body)
  if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`)
}

/** The program; with `serve` the emulator's process. */
export async function main(args: readonly string[]): Promise<void> {
  if (args[0] === 'serve') return serve()
  const { quick } = readOptions(args)
  leaveFirstCore()
  const lines = []
  for (const count of [100, quick ? 10_000 : 100_000]) lines.push(await measure(count, quick ? 1 : 5))
  console.log(`${table(lines)}\n`)
}
