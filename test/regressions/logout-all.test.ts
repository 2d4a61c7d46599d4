import { Redis } from 'ioredis'
import { eventually, resumeStore, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { expectNobody, loginsAtSso } from './signed-out'
import { basket, hop, type Keeping, type Stage, startStage } from './stage'
import { refuseWrites, takeWrites } from './support'

/* A logout of all sessions while Redis takes no writes, or is away, stays a logout of all, and the response says that it is pending. */

let redis: TestRedis
let commands: Redis
let stage: Stage

beforeAll(async () => {
  redis = await startRedis()
  commands = new Redis(redis.url)
})
afterEach(async () => {
  redis.resume()
  await takeWrites(commands)
  await stage.close()
})
afterAll(async () => {
  commands.disconnect()
  await redis.stop()
})

const post = (browser: Browser, path: string) => browser.fetchJson(stage.at(path), { json: {} })
const mark = (browser: Browser) => browser.cookie('sso2.o')
const isBack = () => resumeStore(redis, stage.first.sso)

describe('logout-all', () => {
  const answers = { status: 'none', logout: 'pending' }
  const all = () => stage.emulator.calls({ operation: 'logoutall' }).map(({ claims }) => claims['aid'])

  /** Both are logged in here; the laptop will log out everywhere. */
  async function phoneAndLaptop(keeping?: Keeping): Promise<[Browser, Browser]> {
    stage = await startStage({ ...(keeping ? { keeping } : {}), redis: redis.url })
    return [await stage.reader(), await stage.reader()]
  }

  async function expectPhoneOut(phone: Browser, laptop: Browser): Promise<void> {
    await eventually(async () => {
      expect(view(await laptop.visit(stage.at('/'))).status).not.toBe('loggedin')
      return basket(await phone.fetchJson(stage.at('/basket'))).status !== 'loggedin'
    })
    expect(loginsAtSso(stage)).toEqual([])
    await expectNobody(stage, phone)
  }

  const byRoute = async (laptop: Browser) => expect((await post(laptop, '/logout-all')).json).toEqual(answers)
  test.each<[keeping: Keeping, by: string, leave: (laptop: Browser) => Promise<unknown>]>([
    ['Redis', 'the route', byRoute],
    ['a session of its own', 'the route', byRoute],
    [
      'Redis',
      'a handler of the site',
      async (laptop) => expect((await post(laptop, '/leave-all')).json).toEqual({ result: 'pending' }),
    ],
  ])(
    '[S17] (%s, by %s) while Redis takes no writes tells the SSO system all, and ends the others here later',
    async (...row) => {
      const [keeping, , leave] = row
      const [phone, laptop] = await phoneAndLaptop(keeping)
      await refuseWrites(commands)
      await leave(laptop)
      expect(all()).toEqual(['account-ada'])
      expect(loginsAtSso(stage)).toEqual([])
      expect(mark(laptop)).toBeDefined()
      await expectNobody(stage, laptop, 1)
      await takeWrites(commands)
      await isBack()
      await expectPhoneOut(phone, laptop)
    },
  )

  test('[S17] of a process that ends before Redis takes writes again is finished by another process', async () => {
    const [phone, laptop] = await phoneAndLaptop()
    await refuseWrites(commands)
    expect((await post(laptop, '/logout-all')).json).toEqual(answers)
    const second = stage.addProcess({ redis: redis.url })
    stage.serveFrom(second)
    await stage.first.sso.close() // only the browser's cookie knows of the logout now
    await takeWrites(commands)
    await resumeStore(redis, second.sso)
    await expectPhoneOut(phone, laptop)
  })

  test.each(['Redis', 'a session of its own'] as const)(
    '[S17] (%s) while Redis is away is made good as one at the next contact',
    async (keeping) => {
      const [phone, laptop] = await phoneAndLaptop(keeping)
      redis.hang()
      expect((await post(laptop, '/logout-all')).json).toEqual(answers)
      expect(mark(laptop)).toBeDefined()
      await isBack()
      await expectPhoneOut(phone, laptop)
      expect(new Set(all())).toEqual(new Set(['account-ada']))
    },
  )

  test.each([
    ['while the SSO system is down is kept as one of all', true],
    ['while neither Redis takes writes nor the SSO system answers is made good as one', false],
  ])('[S17] %s', async (_what, takesWritesMeanwhile) => {
    const [phone, laptop] = await phoneAndLaptop()
    if (!takesWritesMeanwhile) await refuseWrites(commands)
    stage.emulator.faults.add({ operation: 'logoutall', kind: 'down' })
    stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(laptop, '/logout-all')).json).toEqual(answers)
    stage.emulator.faults.clear()
    await takeWrites(commands)
    await isBack()
    await expectPhoneOut(phone, laptop)
  })

  test.each([
    ['makes it good as one when the store is back', true],
    ['leaves it to be made good while the store is still away', false],
  ])('[S17] a landing of another tab after one that the store was not told of %s', async (_what, isBackFirst) => {
    const [phone, laptop] = await phoneAndLaptop()
    const landing = await hop(laptop, (await laptop.fetchJson(stage.at('/identify-me'))).json.identify)
    redis.hang()
    expect((await post(laptop, '/logout-all')).json).toEqual(answers)
    expect(all()).toEqual([])
    if (isBackFirst) await isBack()
    await laptop.fetchJson(landing)
    if (!isBackFirst) {
      expect(mark(laptop)).toBeDefined()
      await isBack()
    }
    await expectPhoneOut(phone, laptop)
    expect(new Set(all())).toEqual(new Set(['account-ada']))
  })
})
