import diagnostics from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'

const STEP_MS = 50
/** A call that is not answered within so long, by the real clock, is not waited for any more. */
const [PATIENCE_MS, SHORT_PATIENCE_MS] = [2000, 100]
/** And so many rounds at least: a process that stood still meanwhile has not looked for the answer. */
const ROUNDS = 15

/** What ends the counting of calls. A clock ends that of the clock before. */
const started: (() => void)[] = []

const turn = () => new Promise((resolve) => setImmediate(resolve))

/**
 * A clock for the timers of `lib`, which passes as a test says; calls over HTTP are real, and while one is under way the clock stands.
 * So a minute of an outage takes no time, and a busy machine makes nothing late. The time of day goes on as ever. `afterEach` puts the
 * real timers back, and restores what was spied on.
 */
export function fakeClock() {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'Date'] })
  const underWay = new Set<ClientRequest>()
  let patienceMs = PATIENCE_MS
  const onStart = (message: unknown) => {
    const { request } = message as { request: ClientRequest }
    underWay.add(request)
    request.once('close', () => underWay.delete(request))
  }
  started.at(-1)?.()
  diagnostics.subscribe('http.client.request.start', onStart)
  started.push(() => diagnostics.unsubscribe('http.client.request.start', onStart))

  /** Until nothing is under way. */
  async function settle(): Promise<void> {
    const end = Date.now() + patienceMs
    let rounds = 0
    do {
      for (let turns = 0; turns < 20; turns += 1) await turn()
      rounds += 1
    } while (underWay.size > 0 && (Date.now() < end || rounds < ROUNDS))
    underWay.clear()
  }

  async function pass(ms: number): Promise<void> {
    await settle()
    for (let left = ms; left > 0; left -= STEP_MS) {
      await jest.advanceTimersByTimeAsync(Math.min(STEP_MS, left))
      await settle()
    }
  }

  /** @returns how long it took to become true, in steps of 50 ms */
  async function until(isTrue: () => boolean, mostMs: number): Promise<number> {
    const start = performance.now()
    await settle()
    while (!isTrue()) {
      if (performance.now() - start > mostMs) throw new Error(`not within ${mostMs} ms`)
      await pass(STEP_MS)
    }
    return performance.now() - start
  }

  /** For tests in which somebody never answers. */
  function expectSilence(): void {
    patienceMs = SHORT_PATIENCE_MS
  }

  return { settle, pass, until, expectSilence }
}
