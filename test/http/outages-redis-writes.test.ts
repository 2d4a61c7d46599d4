import express from 'express'
import type { Sso2 } from '../../lib'
import { loggerTo } from '../support/log-lines'
import { useRedis } from '../support/redis'
import {
  ada,
  addPages,
  eventually,
  type Gates,
  healthWithStore,
  loggedInBrowser,
  logIn,
  useSetup,
  view,
  visitor,
} from '../support/setup'
import { pause, timed } from '../support/wait'

/*
 * Redis serves reads and refuses writes, because it is full. Users stay logged in for a while, health() and the log name the cause,
 * and neither says that it is over before a write has succeeded.
 */

/** Every answer of a page under `/count` changes the data of its session. */
function build(sso: Sso2, gates: Gates) {
  const app = express().use(sso)
  app.use('/count', (req, _res, next) => {
    req.session.saved = `${Number(req.session.saved ?? 0) + 1}`
    next()
  })
  return addPages(app, sso, gates)
}

const LINE = /^express-sso2: Redis (?:refuses writes|does not respond): /

describe('[O23] a Redis that refuses writes', () => {
  const redis = useRedis()
  const lines: string[] = []
  const setup = useSetup({
    build,
    site: () => ({ redis: redis.url(), logger: loggerTo(lines) }),
  })

  const at = (page: string) => `${setup.morning.url}${page}`
  const refuse = () => redis.commands().config('SET', 'maxmemory', '1')
  const allow = () => redis.commands().config('SET', 'maxmemory', '0')
  const aboutRedis = () => lines.filter((line) => line.includes('Redis'))

  test('keeps users logged in, says so until a write has succeeded, and works again within 5 s', async () => {
    const [user, other] = [await loggedInBrowser(setup), await visitor(setup)]
    expect(await healthWithStore(setup.morning.sso)).toMatchObject({ ok: true })
    lines.length = 0
    await refuse()

    // each page of one browser saves data, and another browser tries to log in
    const seen: ReturnType<typeof view>[] = []
    const told: unknown[] = []
    for (let round = 0; round < 6; round += 1) {
      const pages = Array.from({ length: 4 }, () => user.fetchJson(at('/count')))
      if (round % 3 === 0) expect((await other.fetchJson(at('/login'), { json: ada })).status).toBe(503)
      for (const page of await Promise.all(pages)) seen.push(view(page))
      const { store, ok, storeReason } = await setup.morning.sso.health()
      told.push({ ok, store, storeReason })
      await pause(100)
    }
    expect(seen.filter(({ status }) => status !== 'loggedin')).toEqual([])
    expect(told).toEqual(told.map(() => ({ ok: false, store: 'unavailable', storeReason: 'OOM' })))
    expect(aboutRedis().filter((line) => !LINE.test(line) && !line.includes('could not be saved'))).toEqual([])
    expect(aboutRedis().filter((line) => LINE.test(line))).toEqual([expect.stringMatching(/refuses writes: OOM/)])
    const firstVisit = await setup.browser().visit(at('/'))
    expect([firstVisit.trail.length, view(firstVisit).degraded]).toEqual([1, 'store_unavailable'])

    await allow()
    const [, ms] = await timed(() => eventually(async () => (await setup.morning.sso.health()).store === 'ok'))
    expect(ms).toBeLessThan(5000)
    expect(await healthWithStore(setup.morning.sso)).not.toHaveProperty('storeReason')
    expect(lines.filter((line) => line.includes('Redis works again'))).toHaveLength(1)
    const page = await logIn(setup.browser(), setup.morning, ada)
    expect(view(page)).toMatchObject({ status: 'loggedin' })
  })
})
