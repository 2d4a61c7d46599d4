import type { Kv } from '../../lib/storage/kv'
import { storeUnavailable } from '../../lib/storage/site-store'

/** The same store. It does something before each command, and waits for the promise that this returns: if that fails, the command fails. */
export function tapped(kv: Kv, before: (command: keyof Kv, args: readonly unknown[]) => unknown): Kv {
  return new Proxy(kv, {
    get(store, name: keyof Kv) {
      const command: unknown = store[name]
      if (typeof command !== 'function') return command
      return (...args: unknown[]) => {
        const wait = before(name, args)
        const send = () => Reflect.apply(command, store, args)
        return wait === undefined ? send() : Promise.resolve(wait).then(send)
      }
    },
  })
}

/** Commands that fail: those with the text in an argument, of one method or all, after the first `passing` of them. */
interface Fault {
  readonly text: string
  readonly only?: keyof Kv | undefined
  readonly passing?: number
}

/** A store whose commands fail as `fail` says, as on a master that is away. */
export function failingKv(kv: Kv) {
  let fault: Fault | undefined
  let passing = 0
  const fails = (command: keyof Kv, args: readonly unknown[]) => {
    if (!fault || (fault.only ?? command) !== command || !JSON.stringify(args).includes(fault.text)) return false
    passing -= 1
    return passing < 0
  }
  const fail = (next?: Fault) => {
    fault = next
    passing = next?.passing ?? 0
  }
  return { kv: tapped(kv, (...call) => (fails(...call) ? Promise.reject(storeUnavailable()) : undefined)), fail }
}
