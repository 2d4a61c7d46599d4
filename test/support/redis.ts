import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { setPriority, tmpdir } from 'node:os'
import path from 'node:path'
import { Redis } from 'ioredis'
import { keepBack, letPass } from './patience'
import { freePort } from './ports'

export type TestRedis = Awaited<ReturnType<typeof launch>>

export interface TestRedisOptions {
  /** A port that was in use before, to bring the same address back. Default: a free one. */
  port?: number
  /** Further arguments, for example `['--maxmemory', '2mb']`. */
  args?: string[]
  /**
   * Everything is kept there, and found again by the server that is started there next. Default: nothing outlives the server.
   * `appendfsync no`, because a Redis of `everysec` on a slow disk confirms up to 2 s of writes that it then loses when it is killed.
   */
  folder?: string
}

/**
 * Starts redis-server on loopback, without persistence, and resolves when it answers PING.
 * A free port can be taken by another process between choosing and using it: then the next one is tried.
 */
export async function startRedis(options: TestRedisOptions = {}): Promise<TestRedis> {
  for (let attempt = 1; ; attempt += 1) {
    const port = options.port ?? (await freePort())
    try {
      return await launch(port, options)
    } catch (error) {
      if (options.port !== undefined || attempt === 3) throw error
    }
  }
}

/** Starts a Redis for the tests of a file. After each test it answers again, and takes writes. */
export function useRedis() {
  let server: TestRedis
  let commands: Redis
  const refuseWrites = (isOn: boolean) => commands.config('SET', 'min-replicas-to-write', isOn ? '3' : '0')
  beforeAll(async () => {
    server = await startRedis()
    commands = new Redis(server.url)
  })
  afterEach(async () => {
    server.resume()
    await refuseWrites(false)
  })
  afterAll(async () => {
    commands.disconnect()
    await server.stop()
  })
  return {
    url: () => server.url,
    /** A connection of the test's own. */
    commands: () => commands,
    hang: () => server.hang(),
    resume: () => server.resume(),
    refuseWrites: () => refuseWrites(true),
    takeWrites: () => refuseWrites(false),
  }
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

async function launch(port: number, { args = [], folder: kept }: TestRedisOptions) {
  const folder = kept ?? mkdtempSync(path.join(tmpdir(), 'express-sso2-redis-')) // a replica leaves a dump, which the next one would load
  const lasting = kept === undefined ? ['--appendonly', 'no'] : ['--appendonly', 'yes', '--appendfsync', 'no']
  const keeping = ['--save', '', ...lasting, '--dir', folder]
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', ...keeping, ...args],
    { stdio: ['ignore', 'pipe', 'ignore'] }, // a server that is left behind must not keep the tests' own output open
  )
  running.add(child)
  goesFirst(child)
  child.once('exit', () => {
    running.delete(child)
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  })
  await ready(child)
  await ping(port)
  letPass(`gone ${port}`)
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    /** Kills the server and resolves when it is gone. Stopping twice is allowed. */
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      keepBack(`gone ${port}`)
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
    /** Answers no command from now on, until it is resumed. */
    hang: () => {
      keepBack(`hangs ${port}`)
      child.kill('SIGSTOP')
    },
    resume: () => {
      letPass(`hangs ${port}`)
      child.kill('SIGCONT')
    },
  }
}

/** Where that is allowed: a store that shares two cores with all tests and their browsers is not to be what is late. */
function goesFirst({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, -10)
  } catch {
    // as any other process then
  }
}

/** Waits for the server's own word that it is ready, then leaves its output alone. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}: ${output.slice(-500)}`)))
    child.stdout?.on('data', (chunk: Buffer) => {
      if (output.includes('Ready to accept connections')) return
      output += chunk.toString()
      if (output.includes('Ready to accept connections')) resolve()
    })
  })
}

async function ping(port: number): Promise<void> {
  const socket = net.connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    socket.write('PING\r\n')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    if (!answer.toString().startsWith('+PONG')) throw new Error(`redis-server answered ${answer.toString().trim()}`)
  } finally {
    socket.destroy()
  }
}
