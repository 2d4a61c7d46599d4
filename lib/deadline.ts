/** Deadlines for other systems. After a standstill, the process first reads the responses from the time of the standstill. */

/** A timer with this much delay shows a standstill of the process. */
const STOOD_STILL_MS = 50
/** After a standstill, the process reads for `STEPS` steps of this length. A step with another standstill does not count. */
const STEP_MS = 20
const STEPS = 5
const MAX_STEPS = 25

/**
 * Calls `late` after so many milliseconds, as soon as all earlier input is read. Keeps no process alive.
 * @returns cancels the call
 */
export function onTimeout(ms: number, late: () => void): () => void {
  let timer: NodeJS.Timeout
  let isOff = false
  const end = () => void setImmediate(() => setImmediate(() => isOff || late()))
  const wait = (pause: number, then: (stoodStill: boolean) => void) => {
    const planned = performance.now() + pause
    timer = setTimeout(() => then(performance.now() - planned >= STOOD_STILL_MS), pause).unref()
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

/** Returns the outcome of a promise. @throws {Error} with this message if there is no outcome after so many milliseconds */
export function withDeadline<T>(outcome: Promise<T>, ms: number, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const callOff = onTimeout(ms, () => reject(new Error(message)))
    outcome.finally(callOff).then(resolve, reject)
  })
}
