/** Retries kept logouts in the background; begins with the first one. */
import type { Site } from '../site'
import { retryKept } from './log-out'

const FIRST_DELAYS_SECONDS = [1, 5, 30, 120]
const LATER_SECONDS = 120

/** The queue of one site. */
export function logoutQueue(site: Site): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let round = 0
  let isStopped = false
  const next = () => {
    if (isStopped) return
    timer = setTimeout(run, (FIRST_DELAYS_SECONDS[round] ?? LATER_SECONDS) * 1000 * (1 + Math.random() / 10))
    timer.unref()
    round += 1
  }
  const run = async () => {
    const due = await site.keptLogouts.takeDue(site.now(), site.now() + LATER_SECONDS)
    if (due !== 'unavailable') for (const sidHash of due) await retryKept(site, sidHash)
    next()
  }
  return {
    start: () => {
      if (timer && round < FIRST_DELAYS_SECONDS.length) return
      clearTimeout(timer)
      round = 0
      next()
    },
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
