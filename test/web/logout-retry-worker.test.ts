import type { PendingLogout } from '../../lib/decide/logout'
import type { Kv } from '../../lib/storage/kv'
import { type DeferredLogout, LogoutMemory } from '../../lib/storage/logout-memory'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { shortHash } from '../../lib/storage/site-store'
import { LogoutRetryWorker } from '../../lib/web/actions/logout-retry-worker'
import type { Site } from '../../lib/web/site'
import { type Behaviour, faultyServer, json } from '../remote/faulty-server'
import { claimsOf, clientOf, says } from '../remote/sso-scene'
import { hearEvents } from '../safety/session-support'
import { OTHER_KEY, realClock, siteOver, stores, type TestClock } from '../storage/stores'
import { pause } from '../support/wait'
import { device, now } from './logout-site'

/* The queue of kept logouts: real store, real client, and an SSO system that answers as it is told. */

const usual = { ...device, key: undefined, accountId: undefined, isAll: false, isConfirmed: false }
/**
 * A look comes within 1.25 s, and a second try 5 s after the first at the soonest. What fails as an outage ends waits as long as the outage
 * took. A busy machine makes all of this longer.
 */
const PATIENCE_MS = 40_000

/** Answers every operation as a system that works; a Logout takes a few milliseconds. */
const isWell: Behaviour = (res, seen, count) => {
  const isStatus = seen.url.endsWith('/sessionstatus')
  const answer = says(isStatus ? { sts: null, err: 'session_not_found' } : { sts: 'terminated' })
  setTimeout(() => answer(res, seen, count), 5)
}
const isAway: Behaviour = (res) => json(res, 503, {})
const isLogoutAway: Behaviour = (res, seen, count) => (seen.url === '/logout' ? isAway : isWell)(res, seen, count)
/** How many logouts a process sends at most, from then until now, if it stops after each batch. */
const mostSentSince = (begun: number) => 8 * (1 + (performance.now() - begun) / 750)

async function until(holds: () => boolean | Promise<boolean>, most: number): Promise<void> {
  const start = performance.now()
  while (!(await holds())) {
    if (performance.now() - start > most) throw new Error(`not within ${most} ms`)
    await pause(20)
  }
}

async function platform() {
  const server = await faultyServer()
  const counted = { atOnce: 0, most: 0 }
  const become = (behave: Behaviour) =>
    server.become((res, seen, count) => {
      if (!seen.url.startsWith('/logout')) return behave(res, seen, count)
      counted.atOnce += 1
      counted.most = Math.max(counted.most, counted.atOnce)
      res.on('close', () => {
        counted.atOnce -= 1
      })
      behave(res, seen, count)
    })
  const asked = (operation: string) => server.seen.filter(({ url }) => url === `/${operation}`)
  return { server, counted, become, asked }
}

/** One store, an SSO system, and processes of the site that have not looked yet. */
async function openScene(open: (clock: TestClock) => Kv) {
  const kv = open(realClock)
  const stored = siteOver(kv, realClock)
  const world = await platform()
  world.become(isWell)
  const ends: (() => Promise<void> | void)[] = []
  const startProcess = (pendingLogouts = stored.pendingLogouts) => {
    const client = clientOf(world.server.url, { timeoutMs: 2000 })
    const deferredLogouts = new LogoutMemory<DeferredLogout>()
    const parts = { config: { rememberDevices: false }, pendingLogouts, deferredLogouts, client, now }
    const queue = new LogoutRetryWorker({ ...stored, ...parts } as unknown as Site)
    ends.push(
      () => client.close(),
      () => queue.stop(),
    )
    return { queue, client, deferredLogouts }
  }
  return {
    kv,
    stored,
    world,
    startProcess,
    keep: (hash: string, logout: Partial<PendingLogout> = {}, due = now()) =>
      stored.pendingLogouts.add(hash, { sid: hash, ...usual, ...logout }, due),
    isEmpty: async () => {
      const times = { now: Number.MAX_SAFE_INTEGER, latest: Number.MAX_SAFE_INTEGER }
      for (let part = 0; part < 8; part += 1) {
        const found = await kv.takeDue(`${stored.prefix}logouts:{logouts${part}}`, times, 0, 1)
        if (found.length > 0) return false // no further one is taken from the processes that work
      }
      return true
    },
    close: async () => {
      for (const end of ends.splice(0).reverse()) await end()
      await world.server.close()
      await kv.close()
    },
  }
}
type Scene = Awaited<ReturnType<typeof openScene>>

describe.each(stores)('over %s', (_name, open) => {
  /** They wait most of the time, so they do it together. */
  const scene = (name: string, act: (scene: Scene) => Promise<void>) =>
    test.concurrent(
      name,
      async () => {
        const opened = await openScene(open)
        await act(opened).finally(opened.close)
      },
      5 * PATIENCE_MS,
    )

  test('a process that stops first ends the sessions that only it knows to be logged out', async () => {
    const { stored, startProcess, close } = await openScene(open)
    const { queue, deferredLogouts } = startProcess()
    const key = 'k'.repeat(43)
    await stored.records.replace(key, null, 'a record of a later release', 60)
    deferredLogouts.set(key, { of: 'session', key, isAll: false, isConfirmed: false, device })
    await queue.stop()
    expect(deferredLogouts.size).toBe(0)
    expect(await stored.records.read(key)).toMatchObject({ state: 'ended' })
    await close()
  })

  test('a process that stops first gives Redis all logouts that Redis has lost', async () => {
    const { kv, stored, startProcess, keep, close } = await openScene(open)
    const ids = Array.from({ length: 120 }, (_, index) => `h${index}`)
    await Promise.all(ids.map((id) => keep(id)))
    await Promise.all(ids.map((id) => kv.del(`${stored.prefix}pend:{logouts${id.charCodeAt(id.length - 1) % 8}}${id}`)))
    await startProcess().queue.stop()
    const found = await Promise.all(ids.map((id) => stored.pendingLogouts.find(id)))
    expect(found.filter((logout) => logout === 'not_found')).toEqual([])
    await close()
  })

  scene(
    '200 logouts of an outage go at once when it ends, eight at a time, and none is asked twice',
    async ({ world, startProcess, keep, isEmpty }) => {
      world.become(isAway)
      await Promise.all(Array.from({ length: 200 }, (_, index) => keep(`h${index}`)))
      const { queue, client } = startProcess()
      const begun = performance.now()
      queue.start()
      await until(() => !client.isAvailable, PATIENCE_MS)
      const asked = world.asked('logout').length
      expect(asked).toBeLessThanOrEqual(mostSentSince(begun)) // until the probes have failed
      await pause(2000)
      expect(world.asked('logout').length).toBeLessThanOrEqual(asked + 8) // those on their way
      const outageMs = performance.now() - begun
      world.become(isWell)
      await until(isEmpty, PATIENCE_MS + 2 * outageMs) // what was asked during the outage waits as long as the outage was
      expect(world.counted.most).toBeLessThanOrEqual(8)
      const sids = world.asked('logout').map(({ body }) => claimsOf(body)['sid'])
      expect(sids.length).toBe(new Set(sids).size)
    },
  )

  scene(
    'while Logout alone does not work, a process sends eight a second, and the circuit stays closed',
    async ({ world, startProcess, keep }) => {
      world.become(isLogoutAway)
      await Promise.all(Array.from({ length: 100 }, (_, index) => keep(`h${index}`)))
      const { queue, client } = startProcess()
      const begun = performance.now()
      queue.start()
      await until(() => {
        expect(client.isAvailable).toBe(true)
        return world.asked('logout').length > 20
      }, PATIENCE_MS)
      expect(world.asked('logout').length).toBeLessThanOrEqual(mostSentSince(begun))
    },
  )

  scene(
    'while the SSO system is away, a process looks every second, so logouts go soon after the outage',
    async ({ kv, stored, world, startProcess, keep }) => {
      world.become(isAway)
      await keep('h1')
      const { queue, client } = startProcess()
      queue.start()
      await until(() => !client.isAvailable, PATIENCE_MS)
      queue.start()
      for (let looks = 0; looks < 3; looks += 1) {
        await kv.del(`${stored.prefix}pend:{logouts1}h1`) // each look gives it to Redis again
        await until(async () => (await stored.pendingLogouts.find('h1')) !== 'not_found', 7000)
      }
    },
  )

  scene('each retry is an event', async ({ world, keep, startProcess, isEmpty }) => {
    const events = hearEvents()
    const heard = () =>
      events.messages
        .filter(({ sidHash }) => sidHash === shortHash('s-event'))
        .map(({ operation, outcome }) => `${operation} ${outcome}`)
    world.become(isLogoutAway)
    await keep('s-event')
    startProcess().queue.start()
    await until(() => heard().length > 0, PATIENCE_MS)
    world.become(isWell)
    await until(isEmpty, PATIENCE_MS)
    events.stop()
    expect(new Set(heard().slice(0, -1))).toEqual(new Set(['retry pending']))
    expect(heard().at(-1)).toBe('retry confirmed')
  })

  scene(
    'a logout that another process kept is made good from the start of this one',
    async ({ stored, world, startProcess, keep, isEmpty }) => {
      await keep('h1')
      startProcess().queue.start()
      await until(async () => (await stored.pendingLogouts.find('h1')) === 'finished', PATIENCE_MS)
      expect(world.asked('logout').length).toBe(1)
      await until(isEmpty, PATIENCE_MS)
    },
  )

  scene(
    'entries whose logout is gone, or confirmed, leave the queue; one that another secret sealed stays',
    async ({ stored, world, startProcess, keep, isEmpty, kv }) => {
      const part = (of: number) => `${stored.prefix}logouts:{logouts${of}}`
      await kv.enqueue(part(5), 'gone', now()) // its last letter says where
      await keep('h1')
      await stored.pendingLogouts.markFinished('h1', usual)
      await kv.enqueue(part(1), 'h1', now())
      const { queue } = startProcess()
      queue.start()
      await until(isEmpty, PATIENCE_MS)
      await queue.stop()
      expect(world.server.seen.length).toBe(0)
      const other = siteOver(kv, realClock, stored.prefix, [OTHER_KEY])
      await keep('h2')
      const blind = startProcess(other.pendingLogouts)
      blind.queue.start()
      await pause(1500)
      expect(await isEmpty()).toBe(false)
    },
  )

  scene('two processes share the work', async ({ world, startProcess, keep, isEmpty }) => {
    await Promise.all(Array.from({ length: 100 }, (_, index) => keep(`h${index}`)))
    for (const { queue } of [startProcess(), startProcess()]) queue.start()
    await until(isEmpty, PATIENCE_MS)
    expect(world.asked('logout').length).toBe(100)
  })

  scene(
    'a queue that is closed in the middle of a round ends it, and never begins another',
    async ({ stored, world, startProcess, keep }) => {
      world.become((res, seen, count) => setTimeout(() => isWell(res, seen, count), 200))
      await Promise.all(Array.from({ length: 40 }, (_, index) => keep(`h${index}`)))
      const { queue } = startProcess()
      queue.start()
      await until(() => world.asked('logout').length >= 8, PATIENCE_MS)
      await queue.stop()
      const asked = world.asked('logout').length
      const sids = world.asked('logout').map(({ body }) => String(claimsOf(body)['sid']))
      for (const sid of sids) expect(await stored.pendingLogouts.find(sid)).toBe('finished')
      queue.start()
      await pause(1500)
      expect(world.asked('logout').length).toBe(asked)
      expect(asked).toBeLessThan(40)
    },
  )

  scene('one that the SSO system refuses for ever is asked less and less', async ({ world, startProcess, keep }) => {
    const isBad = ({ body }: { body: string }) => claimsOf(body)['sid'] === 'bad'
    world.become((res, seen, count) => (isBad(seen) ? says({}) : isWell)(res, seen, count))
    await keep('bad')
    for (let good = 0; good < 20; good += 1) await keep(`h${good}`)
    const begun = performance.now()
    startProcess().queue.start()
    await until(() => world.asked('logout').length >= 21, PATIENCE_MS)
    await pause(3000)
    const bad = world.asked('logout').filter(isBad)
    const seconds = (performance.now() - begun) / 1000
    expect(bad.length).toBeLessThanOrEqual(Math.max(2, 1 + seconds / 5)) // 5 s after each other at the soonest
  })
})

test('a queue that waits does not keep its process alive', async () => {
  const { startProcess, close } = await openScene((clock) => new MemoryKv(() => clock.now * 1000))
  const { queue } = startProcess()
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  queue.start()
  expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBe(before)
  await close()
})
