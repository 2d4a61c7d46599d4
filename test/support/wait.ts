export const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const TICK_MS = 10

/**
 * Runs something that waits for others. @returns the result, and for how many milliseconds the process could run: a busy machine that
 * keeps the process back is not counted
 */
export async function timed<T>(run: () => Promise<T>): Promise<[result: T, ms: number]> {
  let [ms, last] = [0, performance.now()]
  const count = () => {
    const now = performance.now()
    ms += Math.min(now - last, 2 * TICK_MS)
    last = now
  }
  const timer = setInterval(count, TICK_MS)
  try {
    const result = await run()
    count()
    return [result, ms]
  } finally {
    clearInterval(timer)
  }
}

/** Asks again until it holds; fails after `seconds`. For what happens in the background. */
export async function eventually(holds: () => Promise<boolean>, seconds = 15): Promise<void> {
  const deadline = Date.now() + seconds * 1000
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`it did not come to pass in ${seconds} s`)
    await pause(100)
  }
}

/** Asks until it is answered: a busy machine may keep Redis back for longer than a command has time. */
export async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await pause(20)
    }
  }
}

/** Does a site answer at this address? Its landing page refuses a request without a token. */
export const hasLandingPage = (siteUrl: string) => () =>
  fetch(`${siteUrl}/sso2/landing`).then(
    ({ status }) => status === 400,
    () => false,
  )
