import { Redis } from 'ioredis'
import { eventually, type Network, startNetwork, visitor } from '../flows/network'
import { refuseWrites, takeWrites } from '../regressions/support'
import type { Browser } from '../support/agent'
import { startRedis, type TestRedis } from '../support/redis'
import { untilJudged } from './session-support'

/* An attempt is taken off a user name before Authenticate, so that Redis may be away at its end. */

let server: TestRedis
let redis: Redis
let network: Network
let warn: jest.SpyInstance

beforeAll(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  server = await startRedis()
  redis = new Redis(server.url)
  network = await startNetwork({ site: { redis: server.url, loginLimit: { attempts: 100, perSeconds: 60 } } })
})
afterAll(async () => {
  await network.close()
  redis.disconnect()
  await server.stop()
  warn.mockRestore()
})

const guess = (browser: Browser, password: string) =>
  browser.fetchJson(`${network.morning.url}/login`, { json: { username: 'ada', password } })

/** A guess that the platform judges, while Redis takes no writes from when it is asked until the answer is there. */
async function guessInTheDark(browser: Browser, password: string): Promise<void> {
  const asked = network.count('authenticate')
  const isAsked = () => network.count('authenticate') > asked
  network.emulator.faults.add({ operation: 'authenticate', kind: 'slow', ms: 300, times: 1 })
  await eventually(async () => {
    let isAnswered = false
    const answer = guess(browser, password).finally(() => {
      isAnswered = true
    })
    while (!isAsked() && !isAnswered) await new Promise((resolve) => setTimeout(resolve, 10))
    if (isAsked()) await refuseWrites(redis)
    await answer
    await takeWrites(redis)
    return isAsked()
  })
}

test.each<[what: string, password: (index: number) => string, dark: readonly number[]]>([
  ['passwords', (index) => `guess-${index}`, [2]],
  ['one-time passwords, whose answers count nothing down', (index) => `12345${index}`, [1, 2]],
])('[F3] a store that takes nothing at the end of a guess lets nobody freeze an account: %s', async (...row) => {
  const [, password, dark] = row
  network.emulator.reset()
  network.emulator.issueOtp('ada')
  await redis.flushall()
  const [one, other] = [await visitor(network), await visitor(network)]
  const last = []
  for (let index = 0; index < 8; index += 1) {
    if (dark.includes(index)) await guessInTheDark(one, password(index))
    else last.push((await untilJudged(() => guess(other, password(index)))).json.error)
  }
  expect(network.emulator.account('ada').view().frozenUntil).toBeNull()
  expect(last.at(-1)).toBe('too_many_attempts')
})
