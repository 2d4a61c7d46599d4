import { Sso2ResponseError, Sso2UnavailableError } from '../../lib/errors'
import { type Attempt, Breaker } from '../../lib/remote/breaker'

const noResponse = new Sso2UnavailableError('sessionstatus', false, 'no answer')

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 })
  jest.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms)

/** How a probe ends. `hangs`: never. */
type End = 'fails' | 'works' | 'hangs'

/** A breaker, the times of its probes in milliseconds from now on, and how they end. */
function setup(end: End, error: unknown = noResponse) {
  const start = performance.now()
  const scene = { end, probes: [] as number[], recoveries: 0, breaker: undefined as unknown as Breaker }
  const probe = async () => {
    const beganAt = performance.now()
    scene.probes.push(Math.round(beganAt - start))
    await undefined
    if (scene.end === 'hangs') await new Promise(() => {})
    if (scene.end === 'works') return scene.breaker.noteSuccess(beganAt)
    scene.breaker.noteFailure('probe', beganAt, error)
    throw error
  }
  scene.breaker = new Breaker({
    probe,
    onSuccess: (hasRecovered) => {
      scene.recoveries += hasRecovered ? 1 : 0
    },
  })
  return scene
}
const fail = (breaker: Breaker, count: number, attempt: Attempt = 'call', error: unknown = noResponse) => {
  for (let failed = 0; failed < count; failed += 1) breaker.noteFailure(attempt, performance.now(), error)
}

test('five failed calls in a row open it, at once', async () => {
  const { breaker, probes } = setup('fails')
  fail(breaker, 4)
  expect(breaker.isAvailable).toBe(true)
  fail(breaker, 1)
  expect([probes, breaker.isAvailable]).toEqual([[], false])
  await pass(300)
  expect([probes, breaker.isAvailable]).toEqual([[300], false])
})

test('after one failed call it probes once a second until it is open, and then until a probe succeeds', async () => {
  const scene = setup('fails')
  const { breaker, probes } = scene
  fail(breaker, 1)
  await pass(1299)
  expect([probes, breaker.isAvailable]).toEqual([[300], true])
  await pass(1)
  expect([probes, breaker.isAvailable]).toEqual([[300, 1300], false])
  await pass(4500)
  scene.end = 'works'
  await pass(500)
  expect([breaker.isAvailable, scene.recoveries]).toEqual([true, 1])
  await pass(60_000)
  expect(probes).toEqual([300, 1300, 2300, 3300, 4300, 5300, 6300])
  expect(jest.getTimerCount()).toBe(0)
})

test('[F15] calls that fail for one user, however often, cost one probe a second and open nothing', async () => {
  const scene = setup('works')
  for (let second = 0; second < 10; second += 1)
    for (let call = 0; call < 20; call += 1) {
      fail(scene.breaker, 1, 'user_call')
      expect(scene.breaker.isAvailable).toBe(true)
      await pass(50)
    }
  expect(scene.probes.length).toBeLessThanOrEqual(11)
  expect(scene.recoveries).toBe(0) // a failure for one user was no outage
})

test('calls that may have failed for one user open it with three probes that fail as well', async () => {
  const { breaker, probes } = setup('fails')
  fail(breaker, 9, 'user_call')
  await pass(2299)
  expect([probes, breaker.isAvailable]).toEqual([[300, 1300], true])
  await pass(1)
  expect([probes, breaker.isAvailable]).toEqual([[300, 1300, 2300], false])
})

test.each<[asked: number | undefined, attempt: Attempt, ms: number]>([
  [undefined, 'call', 300],
  [7, 'call', 7000],
  [86_400, 'call', 60_000],
  [7, 'user_call', 300],
])(
  'a Retry-After of %p s to a %s: the first probe of an open breaker comes after %i ms',
  async (asked, attempt, ms) => {
    const { breaker, probes } = setup('fails')
    fail(breaker, 5, 'call', new Sso2ResponseError('sessionstatus', 429, 'x', attempt === 'call' ? asked : undefined))
    breaker.noteFailure(attempt, performance.now(), new Sso2ResponseError('sessionstatus', 429, 'x', asked))
    await pass(ms - 1)
    expect(probes).toEqual([])
    await pass(1)
    expect(probes).toHaveLength(1)
  },
)

test('one that is closed while it is open probes no more', async () => {
  const { breaker, probes } = setup('fails')
  fail(breaker, 5)
  await pass(100)
  breaker.close()
  breaker.startProbing()
  fail(breaker, 1)
  await pass(60_000)
  expect(probes).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
})
