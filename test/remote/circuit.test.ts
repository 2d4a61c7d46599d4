import { PlatformApiError, Sso2ResponseError, Sso2UnavailableError } from '../../lib/errors'
import { Circuit } from '../../lib/remote/circuit'

const away = () => Promise.reject(new Sso2UnavailableError('sessionstatus', false, 'no answer'))
const back = async () => 'an answer'

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 })
})
afterEach(() => {
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
  await expect(circuit.run('sessionstatus', call)).rejects.toEqual(
    new Sso2UnavailableError('sessionstatus', true, 'the circuit breaker is open'),
  )
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

test('a closed one asks no more', async () => {
  const { circuit, probes } = await openCircuit(away)
  circuit.close()
  await jest.advanceTimersByTimeAsync(60_000)
  expect(probes()).toBe(0)
  expect(jest.getTimerCount()).toBe(0)
})
