import type { Kv } from '../../lib/storage/kv'
import { storeUnavailable } from '../../lib/storage/site-store'

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
  const fails = (method: string, args: unknown[]) => {
    if (!fault || (fault.only ?? method) !== method || !JSON.stringify(args).includes(fault.text)) return false
    passing -= 1
    return passing < 0
  }
  const proxy = new Proxy(kv, {
    get(target, method: string) {
      const value = Reflect.get(target, method)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) =>
        fails(method, args) ? Promise.reject(storeUnavailable()) : Reflect.apply(value, target, args)
    },
  })
  const fail = (next?: Fault) => {
    fault = next
    passing = next?.passing ?? 0
  }
  return { kv: proxy, fail }
}
