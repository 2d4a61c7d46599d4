import { startRedis } from '../support/redis'
import { eventually, present } from '../support/setup'
import { type Actor, type Cell, landingOf, page, post, type Row, testRows, visit } from './matrix-cells'
import type { Scene } from './matrix-scene'
import { expectOldCookieDead, land, landsLoggedIn, servedFresh, staleFlow } from './matrix-words'

const logsIn: Cell = async (scene, actor) => {
  expect((await post(scene, actor)).status).toBe(200)
  expect(scene.count('authenticate')).toBe(1)
}
const logsOut: Cell = async (scene, actor) => {
  await actor.browser.submit(`${scene.url}/logout`, { return_to: '/news' })
  for (let round = 0; round < 3; round += 1) expect((await visit(scene, actor)).status).toBe('anon')
  await expectOldCookieDead(scene, present(actor.session))
}
/** As if nothing were the matter. */
const asEver: Row['cells'] = {
  fresh: servedFresh,
  stale: staleFlow,
  login: logsIn,
  logout: logsOut,
  landing: landsLoggedIn,
}

async function startAnew(scene: Scene): Promise<void> {
  await scene.restart()
  await scene.untilStored() // or a busy machine shows a page before the process has connected to Redis
}

const AT_ONCE = 20
const atOnce = <T>(run: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, run))

/** All requests of one browser at once. */
const inParallel: Row['cells'] = {
  new: async (scene, actor) => {
    const landings = await Promise.all([1, 2, 3].map(() => landingOf(scene, actor.browser)))
    for (const landing of landings) expect((await land(scene, { ...actor, landing })).status).toBe(303)
    expect((await visit(scene, actor)).status).toBe('anon')
  },
  fresh: async (scene, actor) => {
    const stored = async () => {
      const keys = (await scene.redis.keys(`${scene.prefix}*`)).sort()
      return Promise.all(keys.map(async (key) => [key, await scene.redis.get(key).catch(() => 'a set')]))
    }
    const before = await stored()
    const pages = await atOnce(() => page(scene, actor))
    expect(new Set(pages.map((answer) => answer.view?.username))).toEqual(new Set(['ada']))
    expect(await stored()).toEqual(before)
  },
  logout: async (scene, actor) => {
    const gate = scene.gates.add()
    const late = actor.browser.fetchJson(`${scene.url}/save?gate=${gate.name}&value=late`)
    await gate.arrived
    await actor.browser.submit(`${scene.url}/logout`, { return_to: '/news' })
    gate.open()
    expect((await late).headers['set-cookie']).toBeUndefined()
    expect((await visit(scene, actor)).status).toBe('anon')
    await expectOldCookieDead(scene, present(actor.session))
  },
  landing: async (scene, actor) => {
    const exchanges = scene.count('token')
    const both = await Promise.all([land(scene, actor), land(scene, actor)])
    expect(both.map(({ status }) => status)).toEqual([303, 303])
    expect(await visit(scene, actor)).toMatchObject({ status: 'loggedin', username: 'ada' })
    expect(scene.count('token')).toBe(exchanges + 1)
  },
}

/** A replica that has everything up to now and nothing after; later it takes the server's place. */
const replicas = new WeakMap<Scene, Awaited<ReturnType<typeof startRedis>>>()
async function cutOff(scene: Scene): Promise<void> {
  await scene.redis.config('SET', 'repl-diskless-sync-delay', '0') // or the replica waits five seconds for others
  const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${scene.redisServer.port}`] })
  replicas.set(scene, replica)
  scene.alsoClose.push(() => replica.stop())
  const other = scene.redis.duplicate({ port: replica.port })
  await eventually(async () => (await other.info('replication')).includes('master_link_status:up'))
  await scene.redis.set('a-write', 'after which everything is there') // WAIT knows the writes of its own connection alone
  await scene.redis.wait(1, 5000)
  await other.call('REPLICAOF', 'NO', 'ONE')
  other.disconnect()
}
async function takeOver(scene: Scene): Promise<void> {
  scene.storeFront.lead(present(replicas.get(scene)).port)
  await eventually(async () => (await scene.sso().health()).store === 'ok')
}
const after =
  (act: (scene: Scene, actor: Actor) => Promise<unknown>, then: Cell): Cell =>
  async (scene, actor) => {
    await act(scene, actor)
    await takeOver(scene)
    await then(scene, actor)
  }
const nothing = async () => {}

/** Logged in by the SSO session, which the failover did not touch, without a password. */
const loggedInAgain: Cell = async (scene, actor) => {
  const before = scene.count('authenticate')
  expect(await visit(scene, actor)).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(scene.count('authenticate')).toBe(before)
}

testRows([
  {
    row: '14',
    name: 'a replica takes over that lacks the last writes',
    options: { ownRedis: true },
    fault: cutOff,
    cells: {
      fresh: after(nothing, servedFresh),
      stale: after(visit, async (scene, actor) => {
        expect(await visit(scene, actor)).toMatchObject({ status: 'loggedin', username: 'ada', saved: 'kept' })
        expect(scene.count('sessionstatus')).toBe(2) // the time of the first check is among what was lost
      }),
      login: after(post, loggedInAgain),
      logout: after(logsOut, async (scene, actor) => {
        expect((await visit(scene, actor)).status).toBe('anon')
        scene.emulator.clock.advance(361) // the deleted-session marker is lost; the SSO system's word is not. Promise I4
        await expectOldCookieDead(scene, present(actor.session))
      }),
      landing: after(land, async (scene, actor) => {
        await land(scene, actor) // the mark of the used token is lost; its ticket is used up
        expect(await visit(scene, actor)).toEqual({ status: 'anon', degraded: 'user_unknown', url: '/news' })
        scene.emulator.clock.advance(61)
        await loggedInAgain(scene, actor)
      }),
    },
  },
  { row: '17', name: 'the process starts anew', fault: startAnew, cells: asEver },
  { row: '18', name: 'two processes take turns', options: { processes: 2 }, cells: asEver },
  { row: '19', name: 'one browser asks many things at once', options: { processes: 2 }, cells: inParallel },
])
