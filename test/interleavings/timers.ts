import promises from 'node:timers/promises'
import { contexts } from './scheduler'

/*
 * Time for whatever runs in an execution: clocks stand still between steps, timers are the scheduler's. Code outside of
 * executions keeps the real ones, so that a test runner is not led astray.
 */

class VirtualTimer {
  constructor(readonly cancel: () => void) {}
  unref(): this {
    return this
  }
  ref(): this {
    return this
  }
  hasRef(): boolean {
    return false
  }
}

type Patched = readonly [target: object, name: string, make: (original: never) => unknown]

/** Puts virtual time in place. @returns what takes it away again */
export function installTime(): () => void {
  const patches: Patched[] = [
    [globalThis, 'setTimeout', virtualSetTimeout],
    [globalThis, 'clearTimeout', virtualClearTimeout],
    [globalThis, 'setInterval', virtualSetInterval],
    [globalThis, 'clearInterval', virtualClearTimeout],
    [promises, 'setTimeout', virtualSleep],
    [Date, 'now', virtualNow],
    [performance, 'now', virtualNow],
    [Math, 'random', (original: () => number) => () => contexts.getStore()?.scheduler.random() ?? original()],
    [
      AbortSignal,
      'timeout',
      (original: (ms: number) => AbortSignal) => (ms: number) =>
        contexts.getStore() ? new AbortController().signal : original(ms),
    ],
  ]
  const undo = patches.map(([target, name, make]) => patch(target, name, make as (original: unknown) => unknown))
  return () => {
    for (const one of undo) one()
  }
}

function patch(target: object, name: string, make: (original: unknown) => unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name)
  const value = make(Reflect.get(target, name).bind(target))
  Object.defineProperty(target, name, { value, configurable: true, writable: true })
  return () => {
    if (before) Object.defineProperty(target, name, before)
    else Reflect.deleteProperty(target, name)
  }
}

const virtualNow = (original: () => number) => () => contexts.getStore()?.scheduler.now ?? original()

function virtualSetTimeout(original: typeof setTimeout) {
  return (work: (...args: unknown[]) => void, ms = 1, ...args: unknown[]): unknown => {
    const context = contexts.getStore()
    if (!context) return original(work, ms, ...args)
    const { scheduler, actor } = context
    return new VirtualTimer(scheduler.nap(actor, ms, () => contexts.run(context, () => work(...args))))
  }
}

function virtualClearTimeout(original: typeof clearTimeout) {
  return (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.cancel()
    else original(timer as NodeJS.Timeout)
  }
}

/** Never comes: only the renewals of a login's lock repeat, and on a busy machine a real one would be a step that no order has. */
const virtualSetInterval = (original: typeof setInterval) => (work: () => void, ms: number) =>
  contexts.getStore() ? new VirtualTimer(() => {}) : original(work, ms)

function virtualSleep(original: typeof promises.setTimeout) {
  return <T>(ms = 1, value?: T, options: { signal?: AbortSignal; ref?: boolean } = {}): Promise<T> => {
    const context = contexts.getStore()
    if (!context) return original(ms, value as T, options)
    const { signal } = options
    return new Promise((resolve, reject) => {
      const cancel = context.scheduler.nap(context.actor, ms, () => resolve(value as T))
      signal?.addEventListener('abort', () => {
        cancel()
        reject(signal.reason)
      })
    })
  }
}
