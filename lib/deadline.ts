/** Deadlines that a process keeps for others: one that stood still itself does not take them for silent. */

/** A timer that fires so late was not kept by this process, which stood still: */
const STOOD_STILL_MS = 50
/** what has come meanwhile is read first, in steps of which only those count that the process had time for. */
const STEP_MS = 20
const STEPS = 5
const MAX_STEPS = 25

/**
 * Calls `late` in so many milliseconds, when everything has been read that came until then. Keeps no process alive.
 * @returns calls it off
 */
export function whenLate(ms: number, late: () => void): () => void {
  let timer: NodeJS.Timeout
  let isOff = false
  const end = () => void setImmediate(() => setImmediate(() => isOff || late()))
  const wait = (pause: number, then: (stoodStill: boolean) => void) => {
    const due = performance.now() + pause
    timer = setTimeout(() => then(performance.now() - due >= STOOD_STILL_MS), pause).unref()
  }
  const read = (steps: number, most: number) => {
    if (steps === 0 || most === 0) return end()
    wait(STEP_MS, (stoodStill) => read(stoodStill ? steps : steps - 1, most - 1))
  }
  wait(ms, (stoodStill) => (stoodStill ? read(STEPS, MAX_STEPS) : end()))
  return () => {
    isOff = true
    clearTimeout(timer)
  }
}

/** What comes of it in so many milliseconds. @throws {Error} of this message where nothing does */
export function inTime<T>(outcome: Promise<T>, ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = whenLate(ms, () => reject(new Error(message)))
    outcome.then(
      (value) => {
        callOff()
        resolve(value)
      },
      (error) => {
        callOff()
        reject(error)
      },
    )
  })
}
