import type { LoginResult } from '../../lib/decide/login'
import type { Kv } from '../../lib/storage/kv'
import { Logins } from '../../lib/storage/logins'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { loginLimiter } from '../../lib/web/limits/login'

/* Two strangers try one name in two processes: whatever the one does comes between any two commands of the other. */

const now = () => Date.now() / 1000
const limit = { attempts: 100, perSeconds: 60 }
const attempt = { address: '192.0.2.7', username: 'ada', deviceMark: undefined }

/** A platform that freezes at the fifth wrong password, and tells what is left. */
class Platform {
  left = 5
  guess = async (): Promise<LoginResult> => {
    this.left -= 1
    return { ok: false, error: 'invalid_credentials', remainingAttempts: this.left }
  }
}

const processOver = (kv: Kv) => loginLimiter(limit, '', undefined, new Logins(kv, '', () => [Buffer.alloc(32, 7)]), now)

/** Does something before one of its commands. */
function interruptedAt(kv: Kv, index: number, act: () => Promise<void>): Kv {
  let commands = 0
  return new Proxy(kv, {
    get:
      (target, name: keyof Kv) =>
      async (...args: unknown[]) => {
        commands += 1
        if (commands - 1 === index) await act()
        return Reflect.apply(target[name] as (...args: unknown[]) => unknown, target, args)
      },
  })
}

test('[F3] of two strangers at the last but one try of a name, one is let through, whenever the other comes', async () => {
  let orders = 0
  for (let isReached = true; isReached; orders += 1) {
    const platform = new Platform()
    const kv = new MemoryKv(Date.now)
    const other = processOver(kv)
    for (let tries = 0; tries < 3; tries += 1) await other.run(attempt, platform.guess, () => {})
    let meanwhile: Promise<LoginResult> | undefined
    const interrupted = interruptedAt(kv, orders, async () => {
      meanwhile = other.run(attempt, platform.guess, () => {})
      await Promise.race([meanwhile, new Promise((resolve) => setTimeout(resolve, 30))]) // or it waits for its turn
    })
    await processOver(interrupted).run(attempt, platform.guess, () => {})
    await meanwhile
    expect([orders, platform.left]).toEqual([orders, 1])
    isReached = meanwhile !== undefined
  }
  expect(orders).toBeGreaterThan(6)
})
