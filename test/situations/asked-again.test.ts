import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from '../support/agent'
import { type Process, reader, type Stage, startStage } from './support'

/*
 * A session whose questions got no answer is asked about less and less, by a pause that stands in its record. When the SSO system is
 * well again that pause holds nobody up, whichever process he comes to, and whether that process has seen anything of the trouble.
 */

let stage: Stage
let other: Process
let warn: jest.SpyInstance

beforeEach(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  stage = await startStage()
  other = await stage.another({})
})
afterEach(async () => {
  await stage.close()
  warn.mockRestore()
})

const look = async (browser: Browser, process: Process) => (await browser.fetchJson(`${process.url}/`)).json
/** In 200 s; six where nobody is answered: @see retry-storm. */
const MOST_QUESTIONS = 12
const BUSY = { operation: 'sessionstatus', kind: 'status', code: 429 } as const

/** Three questions in a row get no answer, each of another process, so that none of them sees a row of failures. */
async function loseThree(browser: Browser): Promise<void> {
  stage.emulator.clock.advance(361)
  for (const process of [stage, other, await stage.another({})]) {
    stage.emulator.faults.add(BUSY)
    expect(await look(browser, process)).toMatchObject({ status: 'loggedin', degraded: 'sso_unavailable' })
    stage.emulator.faults.clear()
    stage.emulator.clock.advance(process === other ? 10 : 5)
  }
}

test('[I9] where the SSO system answers others again, a session is asked about again at once', async () => {
  const [browser, somebody] = [await reader(stage), await reader(stage)]
  await loseThree(browser)
  expect(await look(browser, other)).toMatchObject({ degraded: 'sso_unavailable' })
  expect(await look(somebody, other)).not.toHaveProperty('degraded')
  expect(await look(browser, other)).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(await look(browser, other)).not.toHaveProperty('degraded')
})

test('[I9] nor is it held up on what is loaded at once with the page that asks', async () => {
  const [browser, somebody] = [await reader(stage), await reader(stage)]
  await loseThree(browser)
  await look(somebody, other)
  stage.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 200, times: 1 })
  const seen = await Promise.all(Array.from({ length: 4 }, () => look(browser, other)))
  expect(seen.filter(({ degraded }) => degraded !== undefined)).toEqual([])
})

test('[I9] a process to which nobody else comes finds out for itself, with one question in 5 s', async () => {
  const browser = await reader(stage)
  await loseThree(browser)
  const idle = await stage.another({})
  const asked = () => stage.emulator.calls({ operation: 'sessionstatus' }).length
  const before = asked()
  const begin = performance.now()
  while ((await look(browser, idle)).degraded !== undefined && performance.now() - begin < 5000) await sleep(50)
  expect(await look(browser, idle)).not.toHaveProperty('degraded')
  expect(asked() - before).toBe(2) // how are you, and how is this session
})

test('[I7] one session that gets no answer is asked about less and less, though others are answered all the time', async () => {
  const [browser, somebody] = [await reader(stage), await reader(stage)]
  const [{ sid } = { sid: '' }] = stage.emulator.sessions().filter(({ status }) => status === 'loggedin')
  stage.emulator.clock.advance(361)
  stage.emulator.faults.add({ ...BUSY, sid })
  const questions = () => stage.emulator.calls({ operation: 'sessionstatus', sid }).length
  const asked: number[] = []
  const { clock } = stage.emulator
  const begin = clock.now()
  for (let before = questions(); clock.now() < begin + 200_000; clock.advance(1)) {
    expect(await look(browser, stage)).toMatchObject({ status: 'loggedin', degraded: 'sso_unavailable' })
    expect((await somebody.fetchJson(`${stage.url}/sensitive`)).status).toBe(200)
    if (questions() > before) asked.push(clock.now() - begin)
    before = questions()
  }
  expect(asked.length).toBeLessThanOrEqual(MOST_QUESTIONS)
})
