import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../test/support/ports'
import { isInStep, type Node, startNode, until } from './servers'

/*
 * What sites run in production: a Cluster of three masters and three replicas; or one master with two replicas, and three
 * Sentinels that watch over them.
 */

interface Address {
  readonly host: string
  readonly port: number
}

/** How a site is told where its store is. */
export type StoreAddress =
  | { readonly kind: 'cluster'; readonly nodes: readonly Address[] }
  | { readonly kind: 'sentinel'; readonly name: string; readonly sentinels: readonly Address[] }

/** Servers that stand in for one another. */
export interface Topology {
  readonly address: StoreAddress
  /** A master that readers' sessions are on, and those of its replicas that may follow it. */
  victim(): Promise<Victim>
  stop(): Promise<void>
}

/** One of the masters. */
interface Victim {
  readonly node: Node
  /** Resolves when a replica has taken its place. */
  readonly replaced: () => Promise<void>
}

/** A master that does not answer is given up after so long; production takes 5 to 30 s, and waits so much longer. */
const GIVEN_UP_MS = 2000
/** Nothing is written to disk. */
const PLAIN = ['save ""', 'appendonly no', 'repl-diskless-sync-delay 0']
const host = '127.0.0.1'
const SLOTS = 16_384
const MASTERS = 3

const addressesOf = (nodes: readonly Node[]) => nodes.map(({ port }) => ({ host, port }))
const stopAll = async (nodes: readonly Node[]) => void (await Promise.all(nodes.map((node) => node.kill())))

/** Three masters with a replica each. */
export async function startCluster(program: string): Promise<Topology> {
  const buses = await Promise.all(Array.from({ length: 2 * MASTERS }, () => freePort()))
  const nodes = await Promise.all(
    buses.map((bus) =>
      startNode(program, [
        ...PLAIN,
        'cluster-enabled yes',
        `cluster-port ${bus}`,
        `cluster-node-timeout ${GIVEN_UP_MS}`,
      ]),
    ),
  )
  const [masters, replicas] = [nodes.slice(0, MASTERS), nodes.slice(MASTERS)]
  for (const [index, { admin }] of masters.entries()) {
    const [from, to] = [Math.floor((SLOTS * index) / MASTERS), Math.floor((SLOTS * (index + 1)) / MASTERS) - 1]
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
    await admin.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
  }
  const [{ port = 0 } = {}, ...others] = nodes
  for (const { admin } of others) await admin.call('CLUSTER', 'MEET', host, port, buses[0] ?? 0)
  const info = async ({ admin }: Node) => String(await admin.call('CLUSTER', 'INFO'))
  const all = async (nodesThat: readonly Node[], text: string) =>
    (await Promise.all(nodesThat.map(info))).every((found) => found.includes(text))
  await until('the Cluster to come together', () => all(nodes, `cluster_known_nodes:${nodes.length}`))
  for (const [index, { admin }] of replicas.entries()) {
    const id = String(await masters[index]?.admin.call('CLUSTER', 'MYID'))
    await until('a replica to take its master', async () => (await admin.call('CLUSTER', 'REPLICATE', id)) === 'OK')
  }
  await until('the Cluster to be whole', async () => (await all(nodes, 'cluster_state:ok')) && allInStep(replicas))
  return {
    address: { kind: 'cluster', nodes: addressesOf(nodes) },
    victim: () => nextVictim(masters, (master) => replicas.slice(masters.indexOf(master)).slice(0, 1)),
    stop: () => stopAll(nodes),
  }
}

/** One master with two replicas, and three Sentinels. */
export async function startSentinels(program: string): Promise<Topology> {
  const master = await startNode(program, PLAIN)
  const follow = [...PLAIN, `replicaof ${host} ${master.port}`]
  const nodes = [master, await startNode(program, follow), await startNode(program, follow)]
  await until('the replicas to be in step', () => allInStep(nodes.slice(1)))
  const name = 'paper'
  const watch = [
    `sentinel monitor ${name} ${host} ${master.port} 2`,
    `sentinel down-after-milliseconds ${name} ${GIVEN_UP_MS}`,
    `sentinel failover-timeout ${name} 4000`,
  ]
  const sentinels = await Promise.all([1, 2, 3].map(() => startNode(program, watch, ['--sentinel'])))
  const knowsAll = async ({ admin }: Node) => {
    const known = await admin.call('SENTINEL', 'MASTER', name)
    const fields = Array.isArray(known) ? known.map(String) : []
    const fieldOf = (field: string) => fields[fields.indexOf(field) + 1]
    return fieldOf('num-other-sentinels') === '2' && fieldOf('num-slaves') === '2'
  }
  for (const sentinel of sentinels) await until('the Sentinels to know all', () => knowsAll(sentinel))
  return {
    address: { kind: 'sentinel', name, sentinels: addressesOf(sentinels) },
    victim: () => nextVictim(nodes, (gone) => nodes.filter((node) => node !== gone)),
    stop: () => stopAll([...sentinels, ...nodes]),
  }
}

async function allInStep(replicas: readonly Node[]): Promise<boolean> {
  return (await Promise.all(replicas.map(isInStep))).every(Boolean)
}

/** One that is frozen or gone says nothing. */
async function isMaster({ admin }: Node): Promise<boolean> {
  const role = await Promise.race([admin.call('ROLE'), sleep(500)]).catch(() => undefined)
  return Array.isArray(role) && role[0] === 'master'
}

/** The first that is a master now. */
async function nextVictim(nodes: readonly Node[], replicasOf: (master: Node) => readonly Node[]): Promise<Victim> {
  for (const node of nodes) {
    if (!(await isMaster(node))) continue
    const replicas = replicasOf(node)
    const isReplaced = async () => (await Promise.all(replicas.map(isMaster))).includes(true)
    return { node, replaced: () => until('a replica to take the place of its master', isReplaced) }
  }
  throw new Error('there is no master left')
}
