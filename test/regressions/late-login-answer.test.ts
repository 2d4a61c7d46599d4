import { Redis } from 'ioredis'
import { ada, resumeStore, view, visitor } from '../flows/network'
import { startRedis, type TestRedis } from '../support/redis'
import { expectLoginWorks, expectNobody, loginsAtSso } from './signed-out'
import { type Stage, startStage } from './stage'
import { refuseWrites, takeWrites } from './support'
import { Turnstile } from './turnstile'

/*
 * The answer to a login is on its way while the store goes away and somebody logs out: that answer brings a cookie of a session which
 * the logout could not end, and the browser's mark is older than it.
 */

let redis: TestRedis
let commands: Redis
let stage: Stage
const answers = new Turnstile()

beforeAll(async () => {
  redis = await startRedis()
  commands = new Redis(redis.url)
})
beforeEach(async () => {
  stage = await startStage({
    redis: redis.url,
    before: (req, res, next) => {
      const { end } = res
      if (req.method === 'POST' && req.path === '/login')
        res.end = ((...args: Parameters<typeof end>) => {
          answers.pass().then(() => end.apply(res, args))
          return res
        }) as typeof end
      next()
    },
  })
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

const isBack = () => resumeStore(redis, stage.first.sso)
const readOnly = () => refuseWrites(commands)
const writable = () => takeWrites(commands)

/** A login whose answer comes after the logout of another tab. */
async function lateLogin(fail: () => unknown) {
  const browser = await visitor(stage)
  const held = answers.close()
  const login = browser.fetchJson(stage.at('/login'), { json: ada })
  await held.arrived
  await fail()
  const logout = await browser.fetchJson(stage.at('/logout'), { json: {} })
  expect(logout.json).toEqual({ status: 'none', logout: 'pending' })
  held.open()
  await login
  expect(browser.cookie('sso2.sid')).toBeDefined()
  return browser
}

test('[S17] a login that is answered after a logout that the store was not told of does not last', async () => {
  const browser = await lateLogin(redis.hang)
  await isBack()
  await expectNobody(stage, browser)
  expect(loginsAtSso(stage)).toEqual([])
  await expectLoginWorks(stage, browser)
})

test('[S17] nor is it shown while the store can be read and takes no writes', async () => {
  const browser = await lateLogin(readOnly)
  expect(view(await browser.fetchJson(stage.at('/news'))).status).toBe('none')
  await writable()
  await isBack()
  await expectNobody(stage, browser)
  await expectLoginWorks(stage, browser)
})
