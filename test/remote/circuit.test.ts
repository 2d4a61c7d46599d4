import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../../lib/errors'
import { Circuit, isUnasked } from '../../lib/remote/circuit'

const away = () => Promise.reject(new Sso2UnavailableError('sessionstatus', false, 'no answer'))
const back = async () => 'an answer'

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 })
})
afterEach(() => {
  jest.restoreAllMocks()
  jest.useRealTimers()
})

const failures = (circuit: Circuit, count: number, call: () => Promise<unknown> = away) =>
  Promise.all(Array.from({ length: count }, () => circuit.runOnce('sessionstatus', call).catch(() => {})))

/** A circuit that is open, and its probe, which is asked as `answer` says. */
async function openCircuit(answer: () => Promise<unknown>) {
  let probes = 0
  const circuit = new Circuit({
    probe: () => {
      probes += 1
      return answer()
    },
  })
  await failures(circuit, 5)
  expect(circuit.isClosed).toBe(false)
  return { circuit, probes: () => probes }
}

test('an open circuit asks by itself, again and again, and closes when it is answered', async () => {
  let answer: () => Promise<unknown> = away
  const { circuit, probes } = await openCircuit(() => answer())
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([1, false])
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([2, false])
  answer = back
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([3, true])
  await jest.advanceTimersByTimeAsync(60_000)
  expect(probes()).toBe(3)
})

test('it opens anew after as many failures as at first', async () => {
  const { circuit } = await openCircuit(back)
  await jest.advanceTimersByTimeAsync(5300)
  await failures(circuit, 1)
  expect(circuit.isClosed).toBe(true)
  await failures(circuit, 4)
  expect(circuit.isClosed).toBe(false)
})

test.each([
  ['back', -3_600_000],
  ['on', 3_600_000],
])("a system's clock that is set %s by an hour neither opens it nor holds it open", async (_name, step) => {
  const { circuit, probes } = await openCircuit(back)
  jest.setSystemTime(Date.now() + step)
  await expect(circuit.run('sessionstatus', back)).rejects.toThrow('open')
  await jest.advanceTimersByTimeAsync(4900)
  expect([probes(), circuit.isClosed]).toEqual([0, false])
  await jest.advanceTimersByTimeAsync(400)
  expect([probes(), circuit.isClosed]).toEqual([1, true])
})

test('while the probe waits for its answer nobody else goes through, or waits', async () => {
  const { circuit, probes } = await openCircuit(() => new Promise(() => {}))
  await jest.advanceTimersByTimeAsync(5300)
  const call = jest.fn(back)
  expect([probes(), circuit.isClosed]).toEqual([1, false])
  await expect(circuit.run('sessionstatus', call)).rejects.toMatchObject({
    operation: 'sessionstatus',
    retryable: true,
    message: 'sessionstatus: the circuit breaker is open',
  })
  expect(call).not.toHaveBeenCalled()
})

test('a probe that hangs for a while does not put off the next one', async () => {
  const begun: number[] = []
  const { circuit } = await openCircuit(async () => {
    begun.push(performance.now())
    await new Promise((resolve) => setTimeout(resolve, 2000))
    await away()
  })
  await jest.advanceTimersByTimeAsync(21_000)
  expect(circuit.isClosed).toBe(false)
  for (const [index, time] of begun.slice(1).entries()) expect(time - (begun[index] ?? 0)).toBeLessThan(5300)
  expect(begun.length).toBeGreaterThanOrEqual(3)
})

test('without a probe one call goes through at a time, and closes it or opens it again', async () => {
  const circuit = new Circuit()
  await failures(circuit, 5)
  await jest.advanceTimersByTimeAsync(4999)
  await expect(circuit.runOnce('token', back)).rejects.toThrow('open')
  await jest.advanceTimersByTimeAsync(1)
  let fail = () => {}
  const call = () =>
    new Promise((_resolve, reject) => {
      fail = () => reject(new Sso2UnavailableError('token', false, 'no answer'))
    })
  const first = circuit.runOnce('token', call)
  await expect(circuit.runOnce('token', back)).rejects.toThrow('open')
  fail()
  await expect(first).rejects.toBeDefined()
  await failures(circuit, 1)
  jest.setSystemTime(Date.now() + 3_600_000)
  await expect(circuit.runOnce('token', back)).rejects.toThrow('open')
  await jest.advanceTimersByTimeAsync(5000)
  expect(await circuit.runOnce('token', back)).toBe('an answer')
  expect(circuit.isClosed).toBe(true)
})

test.each([
  ['no answer', new Sso2UnavailableError('token', false, 'x'), false],
  ['HTTP 503', new Sso2ResponseError('token', 503, 'x'), false],
  ['HTTP 429', new Sso2ResponseError('token', 429, 'x'), false],
  ['a page in place of an answer', new Sso2ResponseError('token', 200, 'x'), false],
  ['HTTP 404', new Sso2ResponseError('token', 404, 'x'), false],
  ['a redirect', new Sso2ResponseError('token', 302, 'x'), false],
  ['a refused ticket', new Sso2ResponseError('token', 400, 'x'), true],
  ['a refused client', new Sso2ResponseError('token', 401, 'x'), true],
  ['a user whom the REST API does not know', new PlatformApiError('me', 404, '', undefined), true],
  ['too many calls of the REST API', new PlatformApiError('me', 429, '', undefined), false],
  ['a failure of the REST API', new PlatformApiError('me', 500, '', undefined), false],
  ['an error of the site', new TypeError('x'), true],
])('after five times %s it is closed: %#', async (_name, error, isClosed) => {
  const circuit = new Circuit()
  await failures(circuit, 5, () => Promise.reject(error))
  expect(circuit.isClosed).toBe(isClosed)
})

test.each([
  [undefined, 5],
  [2, 5],
  [30, 30],
  [86_400, 60],
])('a system that asks for a pause of %p s gets one of %i', async (asked, seconds) => {
  const circuit = new Circuit()
  await failures(circuit, 5, () => Promise.reject(new Sso2ResponseError('token', 429, 'x', asked)))
  await jest.advanceTimersByTimeAsync(seconds * 1000 - 1)
  await expect(circuit.runOnce('token', back)).rejects.toThrow('open')
  await jest.advanceTimersByTimeAsync(1)
  expect(await circuit.runOnce('token', back)).toBe('an answer')
})

test('two failures in a row are a reason to ask, one at a time, until it answers or is open', async () => {
  let answer: () => Promise<unknown> = back
  const probe = jest.fn(() => answer())
  const circuit = new Circuit({ probe })
  await failures(circuit, 1)
  await jest.advanceTimersByTimeAsync(3100)
  expect(probe).not.toHaveBeenCalled()
  await failures(circuit, 1)
  await jest.advanceTimersByTimeAsync(3100)
  expect([probe.mock.calls.length, circuit.isClosed]).toEqual([1, true])
  answer = away
  await failures(circuit, 3)
  await jest.advanceTimersByTimeAsync(3100)
  expect([probe.mock.calls.length, circuit.isClosed]).toEqual([3, false])
})

test('one that is opened by hand probes at once', async () => {
  let answer: () => Promise<unknown> = away
  const onBack = jest.fn()
  const circuit = new Circuit({ probe: () => answer(), onBack })
  circuit.open()
  expect(circuit.isClosed).toBe(false)
  await jest.advanceTimersByTimeAsync(4900)
  answer = back
  expect(onBack).not.toHaveBeenCalled()
  await jest.advanceTimersByTimeAsync(500)
  expect([circuit.isClosed, onBack.mock.calls.length]).toEqual([true, 1])
})

test('one that is opened by hand twice closes all the same', async () => {
  const circuit = new Circuit({ probe: back })
  circuit.open()
  circuit.open()
  await jest.advanceTimersByTimeAsync(1)
  expect(circuit.isClosed).toBe(true)
})

test('the probes of several processes are not all made at the same moment', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0.8)
  const { probes } = await openCircuit(back)
  await jest.advanceTimersByTimeAsync(5199)
  expect(probes()).toBe(0)
  await jest.advanceTimersByTimeAsync(1)
  expect(probes()).toBe(1)
})

test('whoever finds out probes at once and in short steps, one search at a time, until it is open', async () => {
  const begun: number[] = []
  const start = performance.now()
  const circuit = new Circuit({
    probe: () => {
      begun.push(Math.round((performance.now() - start) / 100) * 100)
      return away()
    },
  })
  circuit.findOut()
  circuit.findOut()
  expect(circuit.isLooking).toBe(true)
  await jest.advanceTimersByTimeAsync(450)
  expect([begun, circuit.isClosed, circuit.isLooking]).toEqual([[0, 100, 200, 300, 400], false, false])
  circuit.findOut()
  expect(circuit.isLooking).toBe(false)
})

test('a search that others are answered beside ends after as many probes as would have opened it', async () => {
  const probe = jest.fn(away)
  const onBack = jest.fn()
  const circuit = new Circuit({ probe, onBack })
  circuit.findOut()
  for (let step = 0; step < 20; step += 1) {
    await jest.advanceTimersByTimeAsync(50)
    await circuit.runOnce('sessionstatus', back)
  }
  expect([probe.mock.calls.length, circuit.isClosed, circuit.isLooking]).toEqual([5, true, false])
  expect(onBack).not.toHaveBeenCalled()
})

test('a search ends with the first probe that is answered, and says so', async () => {
  const probe = jest.fn(back)
  const onBack = jest.fn()
  const circuit = new Circuit({ probe, onBack })
  circuit.findOut()
  await jest.advanceTimersByTimeAsync(2000)
  expect([probe.mock.calls.length, onBack.mock.calls.length, circuit.isLooking]).toEqual([1, 1, false])
})

test('a search whose probe is answered when the circuit has opened beside it does not say that the system is back', async () => {
  let told = 0
  const answers: (() => void)[] = []
  const probe = () => new Promise<void>((resolve) => answers.push(resolve))
  const circuit = new Circuit({ probe, onBack: () => (told += 1) })
  circuit.findOut()
  await jest.advanceTimersByTimeAsync(10)
  expect(answers).toHaveLength(1)
  await failures(circuit, 5)
  expect(circuit.isClosed).toBe(false)
  answers[0]?.()
  await jest.advanceTimersByTimeAsync(10)
  expect([circuit.isClosed, told]).toEqual([false, 0])
})

test('an answer of a system that is out of order makes no failure of before out of date', async () => {
  const circuit = new Circuit({ isFaulty: (answer) => answer === 'garbage' })
  const fails: (() => void)[] = []
  const slow = () => new Promise((_resolve, reject) => fails.push(() => away().catch(reject)))
  const waiting = failures(circuit, 4, slow)
  await jest.advanceTimersByTimeAsync(10)
  await circuit.runOnce('sessionstatus', async () => 'garbage')
  for (const fail of fails) fail()
  await waiting
  expect(circuit.isClosed).toBe(false)
})

test('a doubt is dropped where the circuit has opened meanwhile', async () => {
  const probe = jest.fn(away)
  const circuit = new Circuit({ probe })
  circuit.doubt()
  await failures(circuit, 5)
  await jest.advanceTimersByTimeAsync(4900)
  expect([probe.mock.calls.length, circuit.isLooking]).toEqual([0, false])
})

test('where there is no probe nobody asks in the background, and time alone closes nothing', async () => {
  const circuit = new Circuit({ isFault: () => true })
  await failures(circuit, 3)
  circuit.findOut()
  await jest.advanceTimersByTimeAsync(10_000)
  expect([circuit.isClosed, circuit.isLooking]).toEqual([true, false])
  await failures(circuit, 2)
  await jest.advanceTimersByTimeAsync(60_000)
  expect(circuit.isClosed).toBe(false)
  expect(jest.getTimerCount()).toBe(0)
})

test('the one call of a half-open circuit opens it again with an answer of a system that is out of order', async () => {
  const circuit = new Circuit({ isFaulty: (answer) => answer === 'out of order' })
  await failures(circuit, 5)
  await jest.advanceTimersByTimeAsync(5000)
  expect(await circuit.runOnce('token', async () => 'out of order')).toBe('out of order')
  expect(circuit.isClosed).toBe(false)
  await jest.advanceTimersByTimeAsync(5000)
  const refused = new Sso2ResponseError('token', 400, 'x')
  await expect(circuit.runOnce('token', () => Promise.reject(refused))).rejects.toBe(refused)
  expect(circuit.isClosed).toBe(true)
})

test.each([
  ['never left', 2, new Sso2UnavailableError('logout', true, 'no answer')],
  ['may have arrived', 1, new Sso2UnavailableError('logout', false, 'no answer')],
  ['was answered', 1, new Sso2ResponseError('logout', 503, 'x')],
])('a call that %s is tried %i times at most', async (_name, times, error) => {
  const call = jest.fn(() => Promise.reject(error))
  await expect(new Circuit().run('logout', call)).rejects.toBe(error)
  await expect(new Circuit().runOnce('logout', () => Promise.reject(error))).rejects.toBe(error)
  expect(call).toHaveBeenCalledTimes(times)
})

test('a call that never left and goes through the second time is as any other', async () => {
  const call = jest.fn(back).mockRejectedValueOnce(new Sso2UnavailableError('logout', true, 'no answer'))
  expect(await new Circuit().run('logout', call)).toBe('an answer')
})

test('that nobody was asked can be told from that nobody answered', async () => {
  const { circuit } = await openCircuit(away)
  const refusal = await circuit.run('sessionstatus', back).catch((error: unknown) => error)
  expect(isUnasked(refusal)).toBe(true)
  expect(isUnasked(new Sso2UnavailableError('sessionstatus', true, 'no answer'))).toBe(false)
  expect(isUnasked(new Error((refusal as Error).message))).toBe(false)
})

test('a closed one asks no more', async () => {
  const { circuit, probes } = await openCircuit(away)
  circuit.close()
  await jest.advanceTimersByTimeAsync(60_000)
  expect(probes()).toBe(0)
  expect(jest.getTimerCount()).toBe(0)
})

test('one that is closed begins nothing more', async () => {
  const probe = jest.fn(back)
  const circuit = new Circuit({ probe })
  circuit.close()
  circuit.open()
  circuit.findOut()
  circuit.doubt()
  expect([circuit.isClosed, circuit.isLooking]).toEqual([true, false])
  expect(jest.getTimerCount()).toBe(0)
  await jest.advanceTimersByTimeAsync(2000)
  expect(probe).not.toHaveBeenCalled()
})

test.each([
  ['a search', 2],
  ['the probe of an open one', 5],
])('one that is closed during %s asks no more', async (_name, count) => {
  const probe = jest.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await away()
  })
  const circuit = new Circuit({ probe })
  await failures(circuit, count)
  for (let step = 0; step < 60 && probe.mock.calls.length === 0; step += 1) await jest.advanceTimersByTimeAsync(100)
  circuit.close()
  await jest.advanceTimersByTimeAsync(60_000)
  expect(probe).toHaveBeenCalledTimes(1)
  expect(jest.getTimerCount()).toBe(0)
})
