/** Notifies the portal of changes by server-sent events, at most four times a second. */
import type { RequestHandler } from 'express'
import type { Runtime } from '../runtime'

const QUIET_MS = 250
const KEEP_ALIVE_MS = 15_000

/** Streams `changed` events while the page is open. */
export function events(runtime: Runtime): RequestHandler {
  return (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    res.write('retry: 1000\n\n')
    let waiting: NodeJS.Timeout | undefined
    const unsubscribe = runtime.onChange(() => {
      waiting ??= setTimeout(() => {
        waiting = undefined
        res.write('event: changed\ndata: 1\n\n')
      }, QUIET_MS)
    })
    const keepAlive = setInterval(() => res.write(': still here\n\n'), KEEP_ALIVE_MS).unref()
    res.once('close', () => {
      unsubscribe()
      clearTimeout(waiting)
      clearInterval(keepAlive)
    })
  }
}
