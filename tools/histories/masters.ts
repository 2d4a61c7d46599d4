import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
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
  readonly servers: readonly Redis[]
  /** One of the masters stands still; resolves when a replica has taken its place. */
  freeze(): Promise<void>
  /** It is back, and follows the new one. */
  thaw(): Promise<void>
  stop(): Promise<void>
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
  for (const { admin } of nodes) await admin.call('READONLY') // so that replicas answer, too
  return {
    address: { kind: 'cluster', nodes: addressesOf(nodes) },
    servers: nodes.map(({ admin }) => admin),
    ...freezing(masters.map((master, index) => [master, ...replicas.slice(index, index + 1)])),
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
    servers: nodes.map(({ admin }) => admin),
    ...freezing([nodes]),
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

/** Freezes the masters of these groups in turn. */
function freezing(groups: readonly (readonly Node[])[]) {
  let turn = 0
  let frozen: Node | undefined
  return {
    freeze: async () => {
      const group = groups[turn % groups.length] ?? []
      turn += 1
      const roles = await Promise.all(group.map(isMaster))
      frozen = group[roles.indexOf(true)]
      const others = group.filter((node) => node !== frozen)
      frozen?.freeze()
      const isReplaced = async () => (await Promise.all(others.map(isMaster))).includes(true)
      await until('a replica to take the place of its master', isReplaced)
    },
    thaw: async () => {
      const back = frozen
      back?.thaw()
      if (back) await until('the old master to follow the new one', () => isInStep(back))
    },
  }
}
