import { Redis } from 'ioredis'
import { eventually, resumeStore, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { expectNobody, loginsAtSso } from './signed-out'
import { basket, type Keeping, type Stage, startStage } from './stage'
import { refuseWrites, takeWrites } from './support'

/*
 * "Log out everywhere" while Redis takes no writes, or is away: it stays one, and nobody is told that it was less.
 */

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

  test.each(['Redis', 'a session of its own'] as const)(
    '[S17] (%s) while Redis takes no writes tells the SSO system all, and ends the others here later',
    async (keeping) => {
      const [phone, laptop] = await phoneAndLaptop(keeping)
      await refuseWrites(commands)
      expect((await post(laptop, '/logout-all')).json).toEqual(answers)
      expect(all()).toEqual(['account-ada'])
      expect(loginsAtSso(stage)).toEqual([])
      expect(mark(laptop)).toBeDefined()
      await expectNobody(stage, laptop, 1)
      await takeWrites(commands)
      await isBack()
      await expectPhoneOut(phone, laptop)
    },
  )

  test('[S17] by a handler of the site while Redis takes no writes does the same', async () => {
    const [phone, laptop] = await phoneAndLaptop()
    await refuseWrites(commands)
    expect((await post(laptop, '/leave-all')).json).toEqual({ result: 'pending' })
    expect(all()).toEqual(['account-ada'])
    await takeWrites(commands)
    await isBack()
    await expectPhoneOut(phone, laptop)
  })

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

  test('[S17] while the SSO system is down is kept as one of all', async () => {
    const [phone, laptop] = await phoneAndLaptop()
    stage.emulator.faults.add({ operation: 'logoutall', kind: 'down' })
    stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(laptop, '/logout-all')).json).toEqual(answers)
    stage.emulator.faults.clear()
    await expectPhoneOut(phone, laptop)
  })

  test('[S17] while neither Redis takes writes nor the SSO system answers is made good as one', async () => {
    const [phone, laptop] = await phoneAndLaptop()
    await refuseWrites(commands)
    stage.emulator.faults.add({ operation: 'logoutall', kind: 'down' })
    stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
    expect((await post(laptop, '/logout-all')).json).toEqual(answers)
    stage.emulator.faults.clear()
    await takeWrites(commands)
    await isBack()
    await expectPhoneOut(phone, laptop)
  })
})
