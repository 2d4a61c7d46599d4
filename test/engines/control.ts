import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../support/http'
import { ALWAYS, type Span } from './judge'

/*
 * A page of the site that has nothing to do with the store is asked for all the time. When that takes long, the machine is
 * busy with something else, and nothing that took long meanwhile says anything of the store.
 */

const EVERY_MS = 50

/** Asks until it is stopped. @param ports of processes of the site */
export function watchMachine(ports: readonly number[]) {
  const waits: { readonly begin: number; readonly ms: number }[] = []
  let isOver = false
  const run = async (port: number) => {
    while (!isOver) {
      const begin = performance.now()
      await send({ method: 'GET', url: new URL(`http://127.0.0.1:${port}/bare`), headers: {} }).catch(() => {})
      waits.push({ begin, ms: performance.now() - begin })
      await sleep(EVERY_MS)
    }
  }
  const ends = Promise.all(ports.map(run))
  return {
    /** The longest that a page took within a time, in milliseconds. */
    longestMs: ({ from, to }: Span = ALWAYS) =>
      Math.max(0, ...waits.filter(({ begin }) => begin >= from && begin < to).map(({ ms }) => ms)),
    stop: async () => {
      isOver = true
      await ends
    },
  }
}
