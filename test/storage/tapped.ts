import type { Kv } from '../../lib/storage/kv'

/** The same store, that tells of each command. */
export function tapped(kv: Kv, before: (command: keyof Kv) => void): Kv {
  return new Proxy(kv, {
    get(store, name: keyof Kv) {
      const command: unknown = store[name]
      if (typeof command !== 'function') return command
      return (...args: unknown[]) => {
        before(name)
        return Reflect.apply(command, store, args)
      }
    },
  })
}
