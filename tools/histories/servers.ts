import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { freePort } from '../../test/support/ports'

/*
 * Servers of Redis or Valkey, each in a process and a temporary folder of its own, that can be killed and frozen.
 */

/** One server. */
export interface Node {
  readonly port: number
  /** For the run's own questions, past the sites. */
  readonly admin: Redis
  /** Ends it without a word, as a machine that loses its power; resolves when it is gone. */
  kill(): Promise<void>
  /** Stands still: its connections stay, and new ones are taken, but nobody answers. */
  freeze(): void
  thaw(): void
}

const READY_MS = 20_000
const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * Starts a server on loopback, and resolves when it answers. A port that somebody took meanwhile costs another try.
 * @param lines of its configuration; @param flags for its command line
 */
export async function startNode(
  program: string,
  lines: readonly string[],
  flags: readonly string[] = [],
): Promise<Node> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort()
    try {
      return await launch(program, port, lines, flags)
    } catch (error) {
      if (tries === 3) throw error
    }
  }
}

async function launch(
  program: string,
  port: number,
  lines: readonly string[],
  flags: readonly string[],
): Promise<Node> {
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-engine-'))
  const file = path.join(folder, 'server.conf') // Sentinels write into theirs
  writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...lines, ''].join('\n'))
  const child = spawn(program, [file, ...flags], { cwd: folder, stdio: 'ignore' })
  running.add(child)
  const gone = once(child, 'exit').finally(() => {
    running.delete(child)
    rmSync(folder, { recursive: true, force: true })
  })
  gone.catch(() => {})
  const admin = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => 50 })
  admin.on('error', () => {})
  try {
    const isReady = until(`${program} on port ${port}`, async () => (await admin.ping()) === 'PONG')
    await Promise.race([isReady, gone.then(failed)])
  } catch (error) {
    admin.disconnect()
    child.kill('SIGKILL')
    throw error
  }
  return {
    port,
    admin,
    kill: async () => {
      admin.disconnect()
      child.kill('SIGKILL')
      await gone
    },
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
  }
}

const failed = () => Promise.reject(new Error('the server ended before it was ready'))

/** Asks until it holds: these servers tell nobody when they have agreed on something. */
export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + READY_MS
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`${what}: not within ${READY_MS} ms`)
    await sleep(25)
  }
}

/** Is this server a replica that has everything of its master? */
export const isInStep = async ({ admin }: Node) =>
  /master_link_status:up[\s\S]*master_sync_in_progress:0/.test(await admin.info('replication'))
