import { eventually, resumeStore, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { loginsAtSso } from './signed-out'
import { basket, hop, type Stage, startStage } from './stage'

/*
 * Another tab is on its way through Identify while somebody logs out everywhere and the store cannot be told:
 * the landing ends the login that it brings, and all the others stay to be ended.
 */

let redis: TestRedis
let stage: Stage

beforeAll(async () => {
  redis = await startRedis()
})
beforeEach(async () => {
  stage = await startStage({ redis: redis.url })
})
afterEach(() => {
  redis.resume()
  return stage.close()
})
afterAll(() => redis.stop())

const all = () => stage.emulator.calls({ operation: 'logoutall' }).map(({ claims }) => claims['aid'])
const isBack = () => resumeStore(redis, stage.first.sso)

/** The address of the landing at the end of a trip that a link of the page began. */
const tripOf = async (browser: Browser) =>
  hop(browser, JSON.parse((await browser.fetchJson(stage.at('/identify-me'))).body).identify)

async function expectAllOut(phone: Browser, laptop: Browser): Promise<void> {
  await eventually(async () => {
    expect(view(await laptop.visit(stage.at('/'))).status).not.toBe('loggedin')
    return basket(await phone.fetchJson(stage.at('/basket'))).status !== 'loggedin'
  })
  expect(new Set(all())).toEqual(new Set(['account-ada']))
  expect(loginsAtSso(stage)).toEqual([])
}

describe('[S17] a landing after a logout everywhere that the store was not told of', () => {
  let [phone, laptop]: Browser[] = []
  let landing: string
  beforeEach(async () => {
    phone = await stage.reader()
    laptop = await stage.reader()
    landing = await tripOf(laptop)
    redis.hang()
    const json = (await laptop.fetchJson(stage.at('/logout-all'), { json: {} })).json
    expect(json).toEqual({ status: 'none', logout: 'pending' })
    expect(all()).toEqual([])
  })

  test('makes it good as one when the store is back', async () => {
    await isBack()
    await laptop?.fetchJson(landing)
    if (phone && laptop) await expectAllOut(phone, laptop)
  })

  test('leaves it to be made good while the store is still away', async () => {
    await laptop?.fetchJson(landing)
    expect(laptop?.cookie('sso2.o')).toBeDefined()
    await isBack()
    if (phone && laptop) await expectAllOut(phone, laptop)
  })
})
