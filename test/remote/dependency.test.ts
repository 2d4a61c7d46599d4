import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../../lib/errors'
import { Dependency, type DependencyOptions, isNotSent } from '../../lib/remote/dependency'

const noResponse = new Sso2UnavailableError('sessionstatus', false, 'no answer')
const away = () => Promise.reject(noResponse)
const back = async () => 'a response'

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 })
  jest.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms)

/** A dependency, the times of its probes in milliseconds from now on, and how the probe ends. */
function setup(probe: () => Promise<unknown>, options: Partial<DependencyOptions> = {}) {
  const start = performance.now()
  const probes: number[] = []
  const scene = { probe, probes, backs: 0, dependency: undefined as unknown as Dependency }
  scene.dependency = new Dependency({
    probe: () => {
      probes.push(Math.round(performance.now() - start))
      return scene.probe()
    },
    onSuccess: (isBack) => {
      scene.backs += isBack ? 1 : 0
    },
    ...options,
  })
  return scene
}
const fail = (dependency: Dependency, count: number, call: () => Promise<unknown> = away, attempt?: 'user_call') =>
  Promise.all(Array.from({ length: count }, () => dependency.run('sessionstatus', call, attempt).catch(() => {})))

test('five failed calls in a row open it', async () => {
  const { dependency, probes } = setup(away)
  await fail(dependency, 4)
  expect(dependency.isAvailable).toBe(true)
  await fail(dependency, 1)
  expect([probes, dependency.isAvailable, dependency.isHealthy]).toEqual([[], false, true])
  await pass(300)
  expect([probes, dependency.isAvailable, dependency.isHealthy]).toEqual([[300], false, false])
})

test.each([5, 4])('one that %i failed calls have opened or not is back with the first good probe', async (count) => {
  const scene = setup(back)
  await fail(scene.dependency, count)
  await pass(300)
  expect([scene.dependency.isAvailable, scene.backs]).toEqual([true, count === 5 ? 1 : 0])
})

test('after one failed call it probes once a second until it is open, and then until a probe succeeds', async () => {
  const scene = setup(away)
  const { dependency, probes } = scene
  await fail(dependency, 1)
  await pass(1299)
  expect([probes, dependency.isAvailable, dependency.isHealthy]).toEqual([[300], true, false])
  await pass(1)
  expect([probes, dependency.isAvailable]).toEqual([[300, 1300], false])
  await pass(4500)
  scene.probe = back
  await pass(499)
  expect([dependency.isAvailable, scene.backs]).toEqual([false, 0])
  await pass(1)
  expect([dependency.isAvailable, dependency.isHealthy, scene.backs]).toEqual([true, true, 1])
  await pass(60_000)
  expect(probes).toEqual([300, 1300, 2300, 3300, 4300, 5300, 6300])
  expect(jest.getTimerCount()).toBe(0)
})

test('[F15] calls that fail for one account, however often, cost one probe a second and close the way for no other', async () => {
  const scene = setup(back)
  const { dependency, probes } = scene
  for (let second = 0; second < 10; second += 1)
    for (let call = 0; call < 20; call += 1) {
      await fail(dependency, 1, away, 'user_call')
      expect([dependency.isAvailable, dependency.isHealthy]).toEqual([true, true])
      await pass(50)
    }
  expect(probes.length).toBeLessThanOrEqual(11)
  expect(await dependency.run('loadUser', back)).toBe('a response')
  expect(scene.backs).toBe(0) // a failure for one account was no outage
})

test('calls that may have failed for one user open it with three probes that fail as well', async () => {
  const { dependency, probes } = setup(away)
  await fail(dependency, 9, away, 'user_call')
  await pass(2299)
  expect([probes, dependency.isAvailable, dependency.isHealthy]).toEqual([[300, 1300], true, false])
  await pass(1)
  expect([probes, dependency.isAvailable]).toEqual([[300, 1300, 2300], false])
})

test('callers within a second share one probe', async () => {
  const { dependency, probes } = setup(away)
  const ends = await Promise.allSettled([dependency.probe(), dependency.probe(), dependency.probe()])
  expect([probes, ends.map(({ status }) => status)]).toEqual([[0], ['rejected', 'rejected', 'rejected']])
  await pass(1000)
  dependency.probe().catch(() => {})
  expect(probes).toEqual([0, 1000])
})

test('a call that succeeds right after one that failed makes a probe unnecessary', async () => {
  const { dependency, probes } = setup(away)
  await fail(dependency, 1)
  await pass(299)
  await dependency.run('sessionstatus', back)
  await pass(10_000)
  expect(probes).toEqual([])
})

test('a success of any call ends the probing', async () => {
  const { dependency, probes } = setup(() => new Promise(() => {}))
  await fail(dependency, 1)
  await pass(1500)
  expect(probes).toEqual([300, 1300])
  await dependency.run('sessionstatus', back)
  await pass(10_000)
  expect(probes).toEqual([300, 1300])
  expect(jest.getTimerCount()).toBe(0)
})

test('a probe that hangs does not delay the next one', async () => {
  const { dependency, probes } = setup(async () => {
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await away()
  })
  dependency.startProbing()
  await pass(3999)
  expect([probes, dependency.isAvailable]).toEqual([[0, 1000, 2000, 3000], true])
  await pass(1)
  expect(dependency.isAvailable).toBe(false)
})

test('while it is open no call is sent, and none waits', async () => {
  const { dependency } = setup(away)
  await fail(dependency, 5)
  await pass(1)
  const call = jest.fn(back)
  const error = await dependency.run('sessionstatus', call).catch((reason: unknown) => reason)
  const message = 'sessionstatus: the circuit breaker is open'
  expect(error).toMatchObject({ operation: 'sessionstatus', retryable: true, message })
  expect(call).not.toHaveBeenCalled()
  expect(isNotSent(error)).toBe(true)
  expect(isNotSent(noResponse)).toBe(false)
  expect(isNotSent(new Error((error as Error).message))).toBe(false)
})

test('a call that was under way when it opened closes it by its success', async () => {
  const { dependency } = setup(away)
  let answer = () => {}
  const response = new Promise<void>((resolve) => {
    answer = resolve
  })
  const slow = dependency.run('authenticate', () => response)
  await fail(dependency, 5)
  await pass(1)
  expect(dependency.isAvailable).toBe(false)
  answer()
  await slow
  expect(dependency.isAvailable).toBe(true)
})

test('what began in a stall that is over opens nothing when it fails', async () => {
  const scene = setup(away)
  const fails: (() => void)[] = []
  const stalled = () => new Promise((_resolve, reject) => fails.push(() => reject(noResponse)))
  const waiting = fail(scene.dependency, 9, stalled)
  await pass(100)
  await scene.dependency.run('sessionstatus', back)
  for (const end of fails) end()
  await waiting
  await pass(5000)
  expect([scene.probes, scene.dependency.isAvailable]).toEqual([[], true])
})

test.each([
  [undefined, 1],
  [7, 7],
  [86_400, 60],
])('a system that asks for a pause of %p s is probed after %i s', async (asked, seconds) => {
  const busy = () => Promise.reject(new Sso2ResponseError('token', 429, 'x', asked))
  const { dependency, probes } = setup(busy)
  await fail(dependency, 4, busy)
  await pass(301)
  expect([dependency.isAvailable, probes]).toEqual([false, [300]])
  await pass(seconds * 1000 - 2)
  expect(probes).toEqual([300])
  await pass(2)
  expect(probes).toHaveLength(2)
})

test.each([-3_600_000, 3_600_000])("a system's clock that is set by %i ms changes nothing", async (step) => {
  const { dependency, probes } = setup(away)
  await fail(dependency, 5)
  await pass(301)
  jest.setSystemTime(Date.now() + step)
  await pass(999)
  expect([probes, dependency.isAvailable]).toEqual([[300, 1300], false])
})

test('the probes of several processes are not all made at the same moment', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.8)
  const { dependency, probes } = setup(away)
  await fail(dependency, 1)
  await pass(3000)
  expect(probes).toEqual([380, 1460, 2540])
})

test('a probe for later is sent then, and one a second at most', async () => {
  const { dependency, probes } = setup(back)
  dependency.startProbing(500)
  dependency.startProbing(100) // one is planned already
  await pass(500)
  dependency.startProbing()
  await pass(999)
  expect(probes).toEqual([500])
  await pass(1)
  expect(probes).toEqual([500, 1500])
})

test.each([
  ['no response', new Sso2UnavailableError('token', false, 'x'), true],
  ['HTTP 503', new Sso2ResponseError('token', 503, 'x'), true],
  ['HTTP 429', new Sso2ResponseError('token', 429, 'x'), true],
  ['a page in place of a response', new Sso2ResponseError('token', 200, 'x'), true],
  ['HTTP 404', new Sso2ResponseError('token', 404, 'x'), true],
  ['a redirect', new Sso2ResponseError('token', 302, 'x'), true],
  ['a refused ticket', new Sso2ResponseError('token', 400, 'x'), false],
  ['a refused client', new Sso2ResponseError('token', 401, 'x'), false],
  ['a user that the REST API does not know', new PlatformApiError('me', 404, '', undefined), false],
  ['too many calls of the REST API', new PlatformApiError('me', 429, '', undefined), true],
  ['a failure of the REST API', new PlatformApiError('me', 500, '', undefined), true],
])('%s as the response to probes opens it: %#', async (_name, error, opens) => {
  const { dependency, probes } = setup(() => Promise.reject(error))
  dependency.startProbing()
  await pass(2500)
  expect([dependency.isAvailable, probes.length]).toEqual(opens ? [false, 3] : [true, 1])
})

test('an error of the site itself says nothing about the system, neither good nor bad', async () => {
  const { dependency, probes } = setup(away)
  await fail(dependency, 9, () => Promise.reject(new TypeError('x')))
  await pass(3000)
  expect(probes).toEqual([])
  await fail(dependency, 1)
  await fail(dependency, 1, () => Promise.reject(new TypeError('x')))
  await pass(1300)
  expect(dependency.isAvailable).toBe(false)
})

test('a response of a system that does not work is a failure, and is given to the caller all the same', async () => {
  const { dependency } = setup(async () => 'garbage', { isFaulty: (response) => response === 'garbage' })
  expect(await dependency.run('sessionstatus', async () => 'garbage')).toBe('garbage')
  await pass(1300)
  expect(dependency.isAvailable).toBe(false)
})

test.each<[name: string, before: (dependency: Dependency) => unknown]>([
  ['before the first call', () => {}],
  ['while it probes', (dependency) => fail(dependency, 1)],
  ['while it is open', (dependency) => fail(dependency, 5)],
])('one that is closed %s probes no more', async (_name, before) => {
  const { dependency, probes } = setup(away)
  await before(dependency)
  await pass(100)
  const count = probes.length
  dependency.close()
  dependency.startProbing()
  await fail(dependency, 1)
  await pass(60_000)
  expect(probes).toHaveLength(count)
  expect(jest.getTimerCount()).toBe(0)
})
