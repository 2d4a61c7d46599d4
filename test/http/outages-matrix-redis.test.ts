import { eventually, present } from '../support/setup'
import { type Cell, post, type Row, testRows, usual, visit } from './matrix-cells'
import type { Scene } from './matrix-scene'
import {
  expectNotNow,
  expectOldCookieDead,
  expectPage,
  flow,
  land,
  landsLoggedIn,
  logsOutHere,
  servedAnonymous,
  servedFresh,
  servedInTheEnd,
} from './matrix-words'

/** A miss costs the deadline of a command; after three of them no request waits any more. Promise I2, with room for a busy machine. */
const SOON_MS = 300 * 3 + 1500

/** No user is known, the page is served, and the cookie stays. */
const servedUnknown: Cell = async (scene, actor) => {
  const cookie = actor.browser.cookie('sso2.sid')
  for (let round = 0; round < 4; round += 1)
    await expectPage(scene, actor, { status: 'none', degraded: 'store_unavailable', url: '/news' }, SOON_MS)
  expect(actor.browser.cookie('sso2.sid')).toBe(cookie)
}

/** "Not now", before the SSO system is asked: no attempt is spent. */
const loginNotAsked: Cell = async (scene, actor) => {
  await expectNotNow(scene, actor, SOON_MS)
  expect(scene.count('authenticate')).toBe(0)
}

/** A signed cookie holds the logout. The session cookie stays, because the next page with Redis needs it to end the session. */
const logoutDeferred: Cell = async (scene, actor) => {
  await logsOutHere(300 * 3 + 3000)(scene, actor)
  expect(actor.browser.cookie('sso2.o')).toBeDefined()
  expect(actor.browser.cookie('sso2.sid')).toBe(actor.session)
  expect(scene.count('logout')).toBe(0)
}

/** What was logged out is dead as soon as this browser is back, and is never brought back. */
const logoutFinal: Cell = async (scene, actor) => {
  await usual.logout(scene, actor)
  await expectOldCookieDead(scene, present(actor.session))
  expect(scene.emulator.sessions().filter(({ status }) => status === 'loggedin')).toEqual([])
}

/** No login without the check of the token, no failure, no loop. */
const landsUnknown: Cell = async (scene, actor) => {
  const landed = await land(scene, actor)
  expect([landed.status, landed.headers.location]).toEqual([303, `${scene.url}/news`])
  await servedInTheEnd(scene, actor)
}

const away: Row['cells'] = {
  new: servedUnknown,
  anon: servedUnknown,
  fresh: servedUnknown,
  stale: servedUnknown,
  login: loginNotAsked,
  logout: logoutDeferred,
  landing: landsUnknown,
}
const options = { ownRedis: true }
const healed = { logout: logoutFinal }
const gone = (row: string, name: string, how: Pick<Row, 'fault' | 'mend'>, cells: Row['cells']): Row => {
  return { row, name, ...how, cells, healed }
}

/** The session is gone, the SSO session is not: logged in again without a password, and the site's data is not pretended. */
const comesBack: Cell = async (scene, actor) => {
  const before = scene.count('authenticate')
  expect(await visit(scene, actor)).toEqual({ status: 'loggedin', username: 'ada', url: '/news' })
  expect(scene.count('authenticate')).toBe(before)
}

/** The site cannot tell which SSO session it was: the landing logs out whatever Identify brings. Promise I5. */
const logoutOfLost: Cell = async (scene, { browser }) => {
  const answer = await browser.submit(`${scene.url}/logout`, { return_to: '/news' })
  expect(JSON.parse(answer.body)).toEqual({ status: 'anon', url: '/news' })
}

const loses = async ({ redis, sso }: Scene) => {
  await redis.flushall()
  await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
  await eventually(async () => (await sso().health()).store === 'ok')
}

/** As soon as three requests have missed an answer, no new visitor is sent to a landing that could not be stored. */
const servedOnceNoticed: Cell = async (scene, actor) => {
  for (let miss = 0; miss < 3; miss += 1) expect((await scene.sso().health()).store).toBe('unavailable')
  await servedUnknown(scene, actor)
}

const noticed = { ...away, new: servedOnceNoticed }
/** A page and a login show that it is the same as a Redis that is gone. */
const shortly = { fresh: servedUnknown, login: loginNotAsked }
const heal = ({ storeFront }: Scene) => storeFront.heal()

/** A landing that the store did not take is tried again within five seconds. Promise I9. */
const fiveSecondsLater =
  (cell: Cell): Cell =>
  async (scene, actor) => {
    scene.emulator.clock.advance(5)
    await cell(scene, actor)
  }

/** Each cause is in outages-redis-writes.test.ts. */
const noWrites: Row = {
  row: '15',
  name: 'Redis has no memory left',
  options,
  fault: async ({ redis }) => void (await redis.config('SET', 'maxmemory', '1')),
  mend: async ({ redis }) => void (await redis.config('SET', 'maxmemory', '0')),
  cells: {
    new: servedInTheEnd,
    anon: servedAnonymous,
    fresh: servedFresh,
    stale: async (scene, actor) => {
      const stale = { status: 'loggedin', username: 'ada', saved: 'kept', degraded: 'store_unavailable', url: '/news' }
      await expectPage(scene, actor, stale)
      expect(scene.count('sessionstatus')).toBeLessThanOrEqual(1)
    },
    login: loginNotAsked,
    logout: logoutDeferred,
    landing: landsUnknown,
  },
  healed: {
    ...healed,
    new: fiveSecondsLater(usual.new),
    landing: fiveSecondsLater(usual.landing),
  },
}

testRows([
  gone(
    '11',
    'Redis is away when the process starts',
    {
      fault: async (scene) => {
        await scene.storeFront.down()
        await scene.restart()
        await eventually(async () => (await scene.sso().health()).store === 'unavailable')
      },
      mend: ({ storeFront }) => storeFront.up(),
    },
    { ...shortly, new: servedUnknown },
  ),
  gone(
    '12',
    'Redis is lost',
    { fault: ({ storeFront }) => storeFront.down(), mend: ({ storeFront }) => storeFront.up() },
    noticed,
  ),
  {
    row: '13',
    name: 'Redis starts again without its data',
    options,
    fault: loses,
    cells: {
      new: flow('anon'),
      fresh: comesBack,
      login: async (scene, actor) => {
        const { status, json } = await post(scene, actor)
        expect([status, json.error]).toEqual([401, 'session_ended'])
        await actor.browser.visit(json.loginUrl)
      },
      logout: logoutOfLost,
      landing: landsLoggedIn,
    },
    healed,
  },
  noWrites,
  {
    row: '15',
    name: 'Redis wants a password',
    options,
    fault: async ({ redis, sso }) => {
      await redis.config('SET', 'requirepass', 'something-new')
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await eventually(async () => (await sso().health()).store === 'unavailable') // the site hears of it in a moment
    },
    mend: async ({ redis }) => void (await redis.config('SET', 'requirepass', '')),
    cells: shortly,
  },
  gone('16', 'Redis stands still', { fault: ({ storeFront }) => storeFront.stall(), mend: heal }, noticed),
  gone(
    '16',
    'Redis takes three seconds for every answer',
    {
      fault: ({ storeFront }) => storeFront.delay(3000), // longer than a process that stands still itself has patience
      mend: heal,
    },
    shortly,
  ),
])
