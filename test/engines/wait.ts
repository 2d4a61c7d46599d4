import { setTimeout as sleep } from 'node:timers/promises'
import { spread } from '../bench/figures'
import { Browser } from '../support/agent'
import { startFront } from '../support/front'
import type { PageView } from './flows'
import { openPaper, type Paper } from './paper'
import { password, readerName } from './platform'
import { type Engine, isInStep, startNode, until } from './servers'
import { PLAIN } from './topologies'

/*
 * What Redis' WAIT costs and gives: a master, and a replica that hears of each write a moment later. Every script that
 * writes a record, a tombstone, a list or a mark is followed by `WAIT 1`, and its answer held back until a replica has it. Then the master is killed.
 */

/** What one way of writing came to. Times in milliseconds. */
export interface Waiting {
  readonly name: string
  /** Of a login's answer. */
  readonly login: { readonly median: number; readonly slowest: number }
  /** Of a page that reads alone, while others log in. */
  readonly page: { readonly median: number; readonly slowest: number }
  /** Logins that were acknowledged in the last second before the master was killed, and those of them that were gone. */
  readonly acknowledged: number
  readonly lost: number
  /** There was no replica, so that nothing could be lost or kept. */
  readonly isAlone: boolean
}

/** A replica hears of a write so much later, in milliseconds. */
export const LAG_MS = 150
const WAIT_MS = 250
const AT_ONCE = 4
const LAST_MS = 1000

interface Variant {
  readonly name: string
  readonly waitMs?: number
  /** There is nobody to wait for. */
  readonly isAlone?: boolean
}
const variants: readonly Variant[] = [
  { name: 'as they are' },
  { name: `WAIT 1 ${WAIT_MS}`, waitMs: WAIT_MS },
  { name: `WAIT 1 ${WAIT_MS}, no replica`, waitMs: WAIT_MS, isAlone: true },
]

/** Measures all, one after another. @param ms for which readers log in before the master is killed */
export async function measureWait(engine: Engine, ms: number): Promise<Waiting[]> {
  const found: Waiting[] = []
  for (const variant of variants) found.push(await measure(engine, variant, ms))
  return found
}

async function measure(engine: Engine, { name, waitMs, isAlone = false }: Variant, ms: number): Promise<Waiting> {
  const master = await startNode(engine, PLAIN)
  const [toReplica, toSites] = [await startFront(master.port), await startFront(master.port)]
  const replica = await startNode(engine, [...PLAIN, `replicaof 127.0.0.1 ${toReplica.port}`])
  await until('the replica to be in step', () => isInStep(replica))
  toReplica.delay(LAG_MS)
  if (isAlone) await toReplica.down()
  const readers = Math.ceil(ms / 4)
  const paper = await openPaper({ kind: 'single', host: '127.0.0.1', port: toSites.port }, readers)
  const sites = await paper.startAll(waitMs === undefined ? [{}] : [{ waitMs }])
  const done = new Measured(paper)
  await done.run(readers, ms)
  const killedAt = performance.now()
  await master.kill()
  await toReplica.down()
  await replica.admin.call('REPLICAOF', 'NO', 'ONE')
  toSites.lead(replica.port)
  await done.end()
  const recent = done.logins.filter(({ end }) => end < killedAt && end > killedAt - LAST_MS)
  const lost = isAlone ? recent.length : await countLost(paper, recent)
  await paper.endAll(sites)
  await paper.close()
  await replica.kill()
  for (const front of [toReplica, toSites]) await front.down()
  const timesOf = (times: readonly { begin: number; end: number }[]) => {
    const all = times.filter(({ end }) => end < killedAt).map(({ begin, end }) => end - begin)
    return { median: spread(all).median, slowest: Math.max(0, ...all) }
  }
  return { name, login: timesOf(done.logins), page: timesOf(done.pages), acknowledged: recent.length, lost, isAlone }
}

interface Login {
  readonly browser: Browser
  readonly begin: number
  readonly end: number
}

/** Readers who log in, a few at once, and one who reads meanwhile. */
class Measured {
  readonly logins: Login[] = []
  readonly pages: { begin: number; end: number }[] = []
  readonly #paper: Paper
  #isOver = false
  #ends: Promise<unknown> = Promise.resolve()

  constructor(paper: Paper) {
    this.#paper = paper
  }

  /** @returns after `ms`, while they go on */
  async run(readers: number, ms: number): Promise<void> {
    const reader = await this.#open(0)
    let next = 1
    const logInAll = async () => {
      while (!this.#isOver && next < readers) await this.#logIn(next++)
    }
    const read = async () => {
      for (; !this.#isOver; await sleep(10)) {
        const begin = performance.now()
        const { status } = await reader.fetchJson(`${this.#paper.url}/front`)
        if (status === 200) this.pages.push({ begin, end: performance.now() })
      }
    }
    this.#ends = Promise.all([read(), ...Array.from({ length: AT_ONCE }, logInAll)])
    await sleep(ms)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#ends
  }

  async #open(_reader: number): Promise<Browser> {
    const browser = new Browser()
    await browser.visit(`${this.#paper.url}/front`)
    return browser
  }

  async #logIn(reader: number): Promise<void> {
    const browser = await this.#open(reader)
    const begin = performance.now()
    const json = { username: readerName(reader), password }
    const { status } = await browser.fetchJson(`${this.#paper.url}/login`, { json })
    if (status === 200) this.logins.push({ browser, begin, end: performance.now() })
  }
}

/** Looked at over the replica that has taken the master's place. */
async function countLost(paper: Paper, logins: readonly Login[]): Promise<number> {
  const look = async (browser: Browser) => (await browser.fetchJson(`${paper.url}/front`)).json as PageView
  let lost = 0
  for (const { browser } of logins) {
    await until('the site to be well over the replica', async () => (await look(browser)).degraded === undefined)
    lost += Number((await look(browser)).who === undefined)
  }
  return lost
}
