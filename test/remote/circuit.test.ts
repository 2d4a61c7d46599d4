import { Sso2UnavailableError } from '../../lib/errors'
import { Circuit } from '../../lib/remote/circuit'

const away = () => Promise.reject(new Sso2UnavailableError('sessionstatus', false, 'no answer'))

beforeEach(() => {
  jest.useFakeTimers({ now: 1_800_000_000_000 })
})
afterEach(() => {
  jest.useRealTimers()
})

/** A circuit that is open, and whose probe succeeds once `isBack` says so. */
async function openCircuit(isBack: () => boolean) {
  let probes = 0
  const circuit = new Circuit(async () => {
    probes += 1
    if (!isBack()) await away()
  })
  for (let tries = 0; tries < 5; tries += 1) await circuit.run('sessionstatus', away).catch(() => {})
  expect(circuit.isClosed).toBe(false)
  return { circuit, probes: () => probes }
}

test('an open circuit asks by itself, again and again, and closes when it is answered', async () => {
  let isBack = false
  const { circuit, probes } = await openCircuit(() => isBack)
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([1, false])
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([2, false])
  isBack = true
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([3, true])
  await jest.advanceTimersByTimeAsync(60_000)
  expect(probes()).toBe(3)
})

test("a system's clock that is set back does not keep it open for good", async () => {
  const { circuit, probes } = await openCircuit(() => true)
  jest.setSystemTime(Date.now() - 3000)
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([0, false])
  await jest.advanceTimersByTimeAsync(5300)
  expect([probes(), circuit.isClosed]).toEqual([1, true])
})

test('a closed one asks no more', async () => {
  const { circuit, probes } = await openCircuit(() => false)
  circuit.close()
  await jest.advanceTimersByTimeAsync(60_000)
  expect(probes()).toBe(0)
  expect(jest.getTimerCount()).toBe(0)
})
