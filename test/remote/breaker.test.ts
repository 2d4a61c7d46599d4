import { Breaker } from '../../lib/remote/breaker'

beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }))
afterEach(() => jest.useRealTimers())
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms)

/** How a probe ends. `hangs`: never. */
type End = 'fails' | 'works' | 'hangs'

/** A breaker, the times of its probes in milliseconds from now on, and how they end. */
function setup(end: End) {
  const start = performance.now()
  const probes: number[] = []
  const breaker: Breaker = new Breaker(async () => {
    probes.push(Math.round(performance.now() - start))
    if (scene.end === 'works') breaker.noteSuccess()
    if (scene.end === 'fails') breaker.noteFailure()
  })
  const scene = { end, probes, breaker }
  return scene
}
const fail = (breaker: Breaker, count: number) => {
  for (let failed = 0; failed < count; failed += 1) breaker.noteFailure()
}

test('three failures in a row open it, at once', async () => {
  const { breaker, probes } = setup('works')
  fail(breaker, 2)
  breaker.noteSuccess()
  fail(breaker, 2)
  expect(breaker.isAvailable).toBe(true)
  fail(breaker, 1)
  expect([probes, breaker.isAvailable]).toEqual([[], false])
  await pass(1000)
  expect([probes, breaker.isAvailable]).toEqual([[1000], true])
})

test('after one failure it probes once a second until it is open, and then until a probe succeeds', async () => {
  const scene = setup('fails')
  const { breaker, probes } = scene
  fail(breaker, 1)
  await pass(1999)
  expect([probes, breaker.isAvailable]).toEqual([[1000], true])
  await pass(1)
  expect([probes, breaker.isAvailable]).toEqual([[1000, 2000], false])
  await pass(2500)
  scene.end = 'works'
  await pass(500)
  expect(breaker.isAvailable).toBe(true)
  await pass(60_000)
  expect(probes).toEqual([1000, 2000, 3000, 4000, 5000])
  expect(jest.getTimerCount()).toBe(0)
})

test('one that is stopped while it is open probes no more', async () => {
  const { breaker, probes } = setup('fails')
  fail(breaker, 3)
  await pass(100)
  breaker.stop()
  breaker.startProbing()
  fail(breaker, 1)
  await pass(60_000)
  expect(probes).toEqual([])
  expect(jest.getTimerCount()).toBe(0)
})
