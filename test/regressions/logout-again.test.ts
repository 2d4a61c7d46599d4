import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { ada, logIn, present, resumeStore, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { expectLoginWorks, expectNobody, loginsAtSso } from './signed-out'
import { document, hop, type Keeping, type Stage, startStage } from './stage'

/*
 * Nobody can tell any more which SSO session a logout was about, or the SSO system has not confirmed it: pressing "log out" again,
 * or a trip that was under way, must not log the reader in. The mark `sso2.o` stands for that, until a Logout is confirmed.
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
  await stage.close()
})
afterAll(async () => {
  commands.disconnect()
  await redis.stop()
})

const start = async (keeping: Keeping = 'Redis') => {
  stage = await startStage({ keeping, redis: redis.url })
}
const post = (browser: Browser, path = '/logout') => browser.fetchJson(stage.at(path), { json: {} })
const mark = (browser: Browser) => browser.cookie('sso2.o')
const loginAtSso = () => present(loginsAtSso(stage).at(-1)).sid
const logoutsOf = (sid: string) => stage.emulator.calls({ operation: 'logout', sid }).length

const isBack = () => resumeStore(redis, stage.first.sso)

/** The fault is over, for a process whose breaker has not met it, and the loop guard's minute as well. */
function overcome(): void {
  stage.emulator.faults.clear()
  stage.emulator.clock.advance(61)
  stage.serveFrom(stage.addProcess())
}

/** How a logout comes to be one of which nobody knows the SSO session. */
const losses: [string, Keeping, (browser: Browser) => Promise<unknown>][] = [
  ['Redis lost its data', 'Redis', () => commands.flushall()],
  ['Redis lost its data', 'a session of its own', () => commands.flushall()],
  ['Redis lost the record alone', 'Redis', async () => commands.del(...(await commands.keys('*sso2:*')))],
]

describe.each(losses)('after %s (%s)', (_name, keeping, lose) => {
  let browser: Browser
  beforeEach(async () => {
    await start(keeping)
    browser = await stage.reader()
    await lose(browser)
  })

  test('[S17] the logout is pending, and nobody is shown on 20 pages', async () => {
    expect((await post(browser)).json).toEqual({ status: 'none', logout: 'pending' })
    expect(mark(browser)).toBeDefined()
    await expectNobody(stage, browser, 20)
  })

  test('[S17] a second logout does not log the reader in, nor does a third, at whichever process', async () => {
    stage.serveFrom(stage.first, stage.addProcess())
    for (let times = 0; times < 3; times += 1) {
      const page = await browser.submit(stage.at('/logout'), { return_to: '/news' })
      expect(view(page).status).toMatch(/^(none|anon)$/)
    }
    await expectNobody(stage, browser)
    await expectLoginWorks(stage, browser)
  })

  test('[S17] two tabs that log out at once do not log the reader in', async () => {
    const form = { return_to: '/news' }
    const pages = await Promise.all([1, 2].map(() => browser.submit(stage.at('/logout'), form)))
    expect(pages.map((page) => view(page).username)).toEqual([undefined, undefined])
    await browser.submit(stage.at('/logout'), form)
    await expectNobody(stage, browser)
  })

  test('[S17] a trip that was under way ends with a Logout of its own session, and the mark falls only then', async () => {
    const sid = loginAtSso()
    const landing = await hop(browser, await hop(browser, stage.at('/slow-tab')))
    await post(browser)
    expect(mark(browser)).toBeDefined()
    stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
    await browser.fetchJson(landing, { headers: document })
    expect(mark(browser)).toBeDefined()
    await expectNobody(stage, browser)
    overcome()
    await expectLoginWorks(stage, browser)
    expect(stage.emulator.sessions().find((session) => session.sid === sid)?.status).not.toBe('loggedin')
  })

  test('[S17] a trip that was under way comes back to a page without a user, logged out at the SSO system', async () => {
    const sid = loginAtSso()
    const landing = await hop(browser, await hop(browser, stage.at('/slow-tab')))
    await post(browser)
    const page = await browser.visit(landing)
    expect(view(page).status).toMatch(/^(none|anon)$/)
    expect(logoutsOf(sid)).toBe(1)
    expect(loginsAtSso(stage).map((session) => session.sid)).not.toContain(sid)
    expect(mark(browser)).toBeUndefined()
    await expectNobody(stage, browser)
    await expectLoginWorks(stage, browser)
  })

  test('[S17] pressing "log in" shows the form, and logs out what was left', async () => {
    const sid = loginAtSso()
    await browser.submit(stage.at('/logout'), { return_to: '/news' })
    await expectLoginWorks(stage, browser)
    expect(logoutsOf(sid)).toBeGreaterThan(0)
  })

  test('[S17] a "log in" that did not come through leaves no silent login', async () => {
    await post(browser)
    stage.emulator.faults.add({ operation: 'identify', kind: 'down' })
    await expect(browser.visit(stage.at('/login'))).rejects.toThrow()
    stage.emulator.faults.clear()
    await expectNobody(stage, browser)
    await expectLoginWorks(stage, browser)
  })

  test('[S17] a "log in" that is told "not now" leaves no silent login', async () => {
    await post(browser)
    const away = stage.addProcess()
    await cutOff(away.sso)
    stage.serveFrom(away)
    expect((await browser.visit(stage.at('/login'))).status).toBe(503)
    stage.serveFrom(stage.first)
    stage.emulator.faults.clear()
    await expectNobody(stage, browser)
  })

  test('[S17] a "log in" whose Logout fails leaves no silent login', async () => {
    await post(browser)
    stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
    const answer = await browser.visit(stage.at('/login'))
    expect(answer.body).not.toContain('"loggedin"')
    expect(mark(browser)).toBeDefined()
    await expectNobody(stage, browser)
    overcome()
    await expectLoginWorks(stage, browser)
  })
})

/** This process finds out that the SSO system does not answer. */
async function cutOff(sso: Stage['first']['sso']): Promise<void> {
  for (const operation of ['sessionstatus', 'authenticate', 'logout', 'identify'] as const)
    stage.emulator.faults.add({ operation, kind: 'down' })
  const ask = () => sso.client.sessionStatus({ sid: 'none', ipa: '127.0.0.1', uas: 'test', lks: 'anon' })
  await Promise.all(Array.from({ length: 6 }, () => ask().catch(() => {})))
  expect(await sso.health()).toMatchObject({ sso: 'unavailable' })
}

test('[S17] memory that a new process begins without: a second logout does not log the reader in', async () => {
  await start('memory')
  const browser = await stage.reader()
  stage.serveFrom(stage.addProcess())
  for (let times = 0; times < 2; times += 1) {
    const page = await browser.submit(stage.at('/logout'), { return_to: '/news' })
    expect(view(page).status).toMatch(/^(none|anon)$/)
  }
  await expectNobody(stage, browser)
  await expectLoginWorks(stage, browser)
})

describe.each(['Redis', 'a session of its own'] as const)('while Redis hangs (%s)', (keeping) => {
  test('[S17] a logout and another one after it do not log the reader in', async () => {
    await start(keeping)
    const browser = await stage.reader()
    redis.hang()
    expect(view(await browser.submit(stage.at('/logout'), { return_to: '/news' })).status).toBe('none')
    expect(mark(browser)).toBeDefined()
    await isBack()
    expect(view(await browser.submit(stage.at('/logout'), { return_to: '/news' })).status).toMatch(/^(none|anon)$/)
    await expectNobody(stage, browser)
    await expectLoginWorks(stage, browser)
  })

  test('[S17] two logouts do not log the reader in, and the first contact makes them good', async () => {
    await start(keeping)
    const browser = await stage.reader()
    const sid = loginAtSso()
    redis.hang()
    for (const path of ['/logout', '/logout']) expect((await post(browser, path)).json.logout).toBe('pending')
    await isBack()
    await expectNobody(stage, browser)
    expect(logoutsOf(sid)).toBeGreaterThan(0)
  })
})

test('[S17] a trip that was under way while Redis hung at the logout does not log the reader in', async () => {
  await start()
  const browser = stage.browser()
  await logIn(browser, stage.evening, ada)
  const one = await hop(browser, await hop(browser, stage.at('/one')))
  const two = await hop(browser, await hop(browser, stage.at('/two')))
  expect(view(await browser.visit(one)).status).toBe('loggedin')
  redis.hang()
  expect((await post(browser)).json.logout).toBe('pending')
  await isBack()
  expect(view(await browser.visit(two)).status).toMatch(/^(none|anon)$/)
  await expectNobody(stage, browser)
  await expectLoginWorks(stage, browser)
})

test('[S17] a logout that the SSO system has not confirmed and that Redis then lost: another one does not log the reader in', async () => {
  await start()
  const browser = await stage.reader()
  stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
  expect((await post(browser)).json.logout).toBe('pending')
  await commands.flushall()
  stage.emulator.faults.clear()
  expect(view(await browser.submit(stage.at('/logout'), { return_to: '/news' })).status).toMatch(/^(none|anon)$/)
  await expectNobody(stage, browser)
  await expectLoginWorks(stage, browser)
})

test('[S17] a logout that the SSO system has not confirmed: another one, in another tab, does not log the reader in', async () => {
  await start()
  const browser = await stage.reader()
  stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
  for (let times = 0; times < 3; times += 1) {
    expect(view(await browser.submit(stage.at('/logout'), { return_to: '/news' })).status).toBe('none')
    expect(mark(browser)).toBeDefined()
  }
  await expectNobody(stage, browser)
})

test('[S17] a trip that was under way before a logout that is not confirmed does not log the reader in', async () => {
  await start()
  const browser = stage.browser()
  await logIn(browser, stage.evening, ada)
  const one = await hop(browser, await hop(browser, stage.at('/one')))
  const two = await hop(browser, await hop(browser, stage.at('/two')))
  await browser.visit(one)
  stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
  expect((await post(browser)).json.logout).toBe('pending')
  await commands.flushall()
  await browser.fetchJson(two, { headers: document })
  expect(mark(browser)).toBeDefined()
  await expectNobody(stage, browser)
})

test('[S17] while the SSO system hangs in Logout alone, one page in a few seconds waits for it', async () => {
  await start()
  const browser = await stage.reader()
  stage.emulator.faults.add({ operation: 'logout', kind: 'hang' })
  expect((await post(browser)).json.logout).toBe('pending')
  const waits: number[] = []
  for (let page = 0; page < 10; page += 1) {
    const begin = performance.now()
    expect(view(await browser.visit(stage.at('/')))).toMatchObject({ degraded: 'logout_pending' })
    waits.push(performance.now() - begin)
    await sleep(700)
  }
  expect(waits.filter((ms) => ms > 1000).length).toBeLessThanOrEqual(1)
  stage.emulator.faults.clear()
  const until = performance.now() + 10_000
  while (loginsAtSso(stage).length > 0 && performance.now() < until) await browser.visit(stage.at('/'))
  expect(loginsAtSso(stage)).toEqual([])
}, 30_000)
