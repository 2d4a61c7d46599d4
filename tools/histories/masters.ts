import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { freePort } from '../../test/support/ports'

/*
 * What sites run in production: a Cluster of three masters and three replicas; or one master with two replicas, and three
 * Sentinels that watch over them. Each server is a Redis or Valkey in a process of its own, which can be frozen.
 */

interface Address {
  readonly host: string
  readonly port: number
}

/** How a site is told where its store is. */
export type StoreAddress =
  | { readonly kind: 'cluster'; readonly nodes: readonly Address[] }
  | { readonly kind: 'sentinel'; readonly name: string; readonly sentinels: readonly Address[] }

/** One server. */
interface Node extends Address {
  /** For the run's own questions, past the sites. */
  readonly admin: Redis
  readonly process: ChildProcess
}

/** Servers that stand in for one another. */
export interface Topology {
  readonly address: StoreAddress
  readonly servers: readonly Redis[]
  /** One of the masters stands still; resolves when a replica has taken its place. */
  freeze(): Promise<void>
  /** It is back, and follows the new one. */
  thaw(): Promise<void>
  stop(): Promise<void>
}

const READY_MS = 20_000
/** A master that does not answer is given up after so long; production takes 5 to 30 s, and waits so much longer. */
const GIVEN_UP_MS = 2000
/** Nothing is written to disk. */
const PLAIN = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0']
const host = '127.0.0.1'

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Three masters with a replica each. */
export async function startCluster(program: string): Promise<Topology> {
  const lines = async () => [
    ...PLAIN,
    'cluster-enabled yes',
    `cluster-port ${await freePort()}`,
    `cluster-node-timeout ${GIVEN_UP_MS}`,
  ]
  const nodes = await Promise.all(Array.from({ length: 6 }, async () => startNode(program, await lines())))
  const addresses = nodes.map(({ port }) => `${host}:${port}`)
  const create = ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes']
  await promisify(execFile)('redis-cli', create)
  const isWhole = async ({ admin }: Node) =>
    String(await admin.call('CLUSTER', 'INFO')).includes('cluster_state:ok') &&
    ((await isMaster({ admin })) || (await isInStep({ admin })))
  for (const node of nodes) await until('the Cluster to be whole', () => isWhole(node))
  return topologyOf(nodes, { kind: 'cluster', nodes: nodes.map(addressOf) })
}

/** One master with two replicas, and three Sentinels. */
export async function startSentinels(program: string): Promise<Topology> {
  const master = await startNode(program, PLAIN)
  const follow = [...PLAIN, `replicaof ${host} ${master.port}`]
  const replicas = [await startNode(program, follow), await startNode(program, follow)]
  for (const replica of replicas) await until('a replica to be in step', () => isInStep(replica))
  const name = 'paper'
  const watch = [
    `sentinel monitor ${name} ${host} ${master.port} 2`,
    `sentinel down-after-milliseconds ${name} ${GIVEN_UP_MS}`,
    `sentinel failover-timeout ${name} 4000`,
  ]
  const sentinels = await Promise.all([1, 2, 3].map(() => startNode(program, watch, ['--sentinel'])))
  const knowsAll = async ({ admin }: Node) => /slaves=2,sentinels=3/.test(await admin.info('sentinel'))
  for (const sentinel of sentinels) await until('the Sentinels to know all', () => knowsAll(sentinel))
  const address = { kind: 'sentinel', name, sentinels: sentinels.map(addressOf) } as const
  return topologyOf([master, ...replicas], address, sentinels)
}

const addressOf = ({ port }: Node): Address => ({ host, port })

function topologyOf(nodes: readonly Node[], address: StoreAddress, others: readonly Node[] = []): Topology {
  let turn = 0
  let frozen: Node | undefined
  const mastersAmong = async (some: readonly Node[]) => {
    const are = await Promise.all(some.map(isMaster))
    return some.filter((_node, index) => are[index])
  }
  return {
    address,
    servers: nodes.map(({ admin }) => admin),
    freeze: async () => {
      if (frozen) return // a round may choose this fault twice
      const masters = await mastersAmong(nodes)
      frozen = masters[turn % masters.length]
      turn += 1
      frozen?.process.kill('SIGSTOP')
      const rest = nodes.filter((node) => node !== frozen)
      const isReplaced = async () => (await mastersAmong(rest)).length === masters.length
      await until('a replica to take the place of its master', isReplaced)
    },
    thaw: async () => {
      const back = frozen
      frozen = undefined
      back?.process.kill('SIGCONT')
      if (back) await until('the old master to follow the new one', () => isInStep(back))
    },
    stop: async () => {
      for (const { admin, process: child } of [...others, ...nodes]) {
        admin.disconnect()
        child.kill('SIGKILL')
      }
    },
  }
}

/** Starts a server on loopback, and resolves when it answers. @param lines of its configuration; @param flags for its command line */
async function startNode(program: string, lines: readonly string[], flags: readonly string[] = []): Promise<Node> {
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-engine-'))
  const file = path.join(folder, 'server.conf') // Sentinels write into theirs
  writeFileSync(file, [`port ${port}`, `bind ${host}`, `dir ${folder}`, ...lines, ''].join('\n'))
  const child = spawn(program, [file, ...flags], { cwd: folder, stdio: 'ignore' })
  running.add(child)
  void once(child, 'exit').then(() => {
    running.delete(child)
    rmSync(folder, { recursive: true, force: true })
  })
  const admin = new Redis({ port, host, lazyConnect: true, retryStrategy: () => 50 })
  admin.on('error', () => {})
  await until(`${program} on port ${port}`, async () => (await admin.ping()) === 'PONG')
  return { host, port, admin, process: child }
}

/** Asks until it holds: these servers tell nobody when they have agreed on something. */
async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + READY_MS
  while (!(await holds().catch(() => false))) {
    if (performance.now() > end) throw new Error(`${what}: not within ${READY_MS} ms`)
    await sleep(25)
  }
}

/** Is this server a replica that has everything of its master? */
const isInStep = async ({ admin }: Pick<Node, 'admin'>) =>
  /master_link_status:up[\s\S]*master_sync_in_progress:0/.test(await admin.info('replication'))

/** One that is frozen or gone says nothing. */
async function isMaster({ admin }: Pick<Node, 'admin'>): Promise<boolean> {
  const role = await Promise.race([admin.call('ROLE'), sleep(500)]).catch(() => undefined)
  return Array.isArray(role) && role[0] === 'master'
}
