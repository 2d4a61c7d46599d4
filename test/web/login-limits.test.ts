import type { LoginResult } from '../../lib/decide/login'
import { Sso2UnavailableError } from '../../lib/errors'
import type { Kv } from '../../lib/storage/kv'
import { Logins } from '../../lib/storage/logins'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { loginLimiter } from '../../lib/web/limits/login'
import type { LimitedLogin } from '../../lib/web/site'

/* Names under attack, with a store in memory: whatever the one does comes between any two commands of the other. */

/** What looks like "ada", and is another account at this platform. */
const WIDE = '\uff41\uff44\uff41'
const HOLD_SECONDS = 900

let seconds = 0
beforeEach(() => {
  seconds = Date.now() / 1000
})
const now = () => seconds
const memory = () => new MemoryKv(() => seconds * 1000)

const limit = { attempts: 100, perSeconds: 60 }
const by = (username: string, deviceMark?: string, session = 's1', isSuccessor = false) => ({
  address: '192.0.2.7',
  username,
  deviceMark,
  session,
  isSuccessor,
})
const attempt = by('ada')
const ok: LoginResult = { ok: true, user: { accountId: 'a1' } }
const refusedFor = (result: LoginResult) => (result.ok ? 'ok' : result.error)

/** A platform that freezes at the fifth wrong password of an exact name, and tells what is left. */
class Platform {
  readonly #left = new Map<string, number>()
  asked = 0
  left(username = 'ada'): number {
    return this.#left.get(username) ?? 5
  }
  /** An Authenticate, if it may be sent. */
  #judge =
    (answer: () => LoginResult, meanwhile?: () => Promise<unknown>): LimitedLogin =>
    async (refusal) => {
      const refused = await refusal()
      if (refused) return refused
      this.asked += 1
      const result = answer()
      await meanwhile?.()
      return result
    }
  /** A wrong password of a name. */
  wrong = (username = 'ada', meanwhile?: () => Promise<unknown>): LimitedLogin =>
    this.#judge(() => {
      this.#left.set(username, this.left(username) - 1)
      return { ok: false, error: 'invalid_credentials', remainingAttempts: this.left(username) }
    }, meanwhile)
  /** The same, and the platform does not say what is left. */
  untold =
    (error: 'invalid_otp' | 'invalid_credentials', username = 'ada'): LimitedLogin =>
    async (refusal) => {
      const result = await this.wrong(username)(refusal)
      return result.ok || result.error !== 'invalid_credentials' ? result : { ok: false, error }
    }
  right = (username = 'ada', meanwhile?: () => Promise<unknown>): LimitedLogin =>
    this.#judge(() => {
      this.#left.delete(username)
      return ok
    }, meanwhile)
}

const processOver = (kv: Kv, budget = limit) => {
  const limiter = loginLimiter(budget, '', undefined, new Logins(kv, '', () => [Buffer.alloc(32, 7)]), now)
  const run = (tried: ReturnType<typeof by>, login: LimitedLogin) => limiter.run(tried, login, () => {})
  return { run, stop: () => limiter.stop() }
}

/** Does something before each of its commands. */
function tapped(kv: Kv, before: (name: keyof Kv, key: string) => Promise<void> | void): Kv {
  return new Proxy(kv, {
    get:
      (target, name: keyof Kv) =>
      async (...args: unknown[]) => {
        await before(name, String(args[0]))
        return Reflect.apply(target[name] as (...args: unknown[]) => unknown, target, args)
      },
  })
}

/** Does something before one of its commands. */
function interruptedAt(kv: Kv, index: number, act: () => Promise<void>): Kv {
  let commands = 0
  return tapped(kv, async () => {
    commands += 1
    if (commands - 1 === index) await act()
  })
}

/** A store that is away for some commands for as long as `isAway` says so. */
function outage(kv: Kv, isAway: (name: keyof Kv, key: string) => boolean) {
  const seen: string[] = []
  const store = tapped(kv, (name, key) => {
    seen.push(`${name} ${key.split(':')[0]}`)
    if (isAway(name, key)) throw new Sso2UnavailableError('store', true, 'away')
  })
  return { store, seen }
}
const isWrite = (name: keyof Kv) => name !== 'mget'
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

test('[F3] of two strangers at the last but one try of a name, one is let through, whenever the other comes', async () => {
  let orders = 0
  for (let isReached = true; isReached; orders += 1) {
    const platform = new Platform()
    const kv = memory()
    const other = processOver(kv)
    for (let tries = 0; tries < 3; tries += 1) await other.run(attempt, platform.wrong())
    let meanwhile: Promise<LoginResult> | undefined
    const interrupted = interruptedAt(kv, orders, async () => {
      meanwhile = other.run(attempt, platform.wrong())
      await Promise.race([meanwhile, sleep(30)]) // or it waits for its turn
    })
    await processOver(interrupted).run(attempt, platform.wrong())
    await meanwhile
    expect([orders, platform.left()]).toEqual([orders, 1])
    isReached = meanwhile !== undefined
  }
  expect(orders).toBeGreaterThan(6)
})

describe('[F3, F13] a name that only looks like another,', () => {
  const held = async () => {
    const [platform, site] = [new Platform(), processOver(memory())]
    for (let tries = 0; tries < 4; tries += 1) await site.run(attempt, platform.wrong())
    return { platform, site }
  }
  const strangers = async ({ platform, site }: Awaited<ReturnType<typeof held>>) => {
    for (let tries = 0; tries < 6; tries += 1) await site.run(attempt, platform.wrong())
    return platform.left()
  }

  test('does not release it by its login, in a known browser', async () => {
    const stage = await held()
    expect(await stage.site.run(by(WIDE, 'own'), stage.platform.right(WIDE))).toBe(ok)
    expect(await strangers(stage)).toBe(1)
  })
  test('does not make its tries forgotten by a login of a stranger, where nothing is held yet', async () => {
    const stage = { platform: new Platform(), site: processOver(memory()) }
    const otp = () => stage.site.run(attempt, stage.platform.untold('invalid_otp'))
    await otp()
    await otp()
    await stage.site.run(by(WIDE), stage.platform.right(WIDE))
    for (let tries = 0; tries < 4; tries += 1) await otp()
    expect(stage.platform.left()).toBeGreaterThanOrEqual(1)
  })
  test('does not release it by a wrong password and a login after it', async () => {
    const stage = await held()
    await stage.site.run(by(WIDE, 'own'), stage.platform.wrong(WIDE))
    await stage.site.run(by(WIDE, 'own'), stage.platform.right(WIDE))
    expect(await strangers(stage)).toBe(1)
  })
  test.each(['ADA', WIDE, ' ada'])('has tries of its own, %p, which raise nothing', async (spelling) => {
    const stage = { platform: new Platform(), site: processOver(memory()) }
    for (let tries = 0; tries < 8; tries += 1) {
      await stage.site.run(attempt, stage.platform.untold('invalid_otp'))
      await stage.site.run(by(spelling, 'own'), stage.platform.wrong(spelling))
      if (tries % 2 === 1) await stage.site.run(by(spelling, 'own'), stage.platform.right(spelling))
    }
    expect(stage.platform.left()).toBeGreaterThanOrEqual(1)
  })
  test('and tries of both keep it held for its time, and no longer', async () => {
    const stage = await held()
    await stage.site.run(by(WIDE, 'own'), stage.platform.wrong(WIDE))
    await stage.site.run(by('ada', 'own'), stage.platform.right())
    expect(refusedFor(await stage.site.run(attempt, stage.platform.right()))).toBe('too_many_attempts')
    seconds += HOLD_SECONDS + 1
    expect(await stage.site.run(attempt, stage.platform.right())).toBe(ok)
  })
  test('while a login of the very name releases it', async () => {
    const stage = await held()
    await stage.site.run(by('ada', 'own'), stage.platform.right())
    expect(await stage.site.run(attempt, stage.platform.right())).toBe(ok)
  })
})

test('[F3] wrong passwords of which the platform does not tell what is left freeze nothing', async () => {
  const [platform, site] = [new Platform(), processOver(memory())]
  for (let tries = 0; tries < 8; tries += 1) await site.run(attempt, platform.untold('invalid_credentials'))
  expect(platform.left()).toBe(2) // four are assumed
})

describe('[F3] a turn', () => {
  const turnKey = async (kv: Kv) => {
    let key = ''
    const spy = outage(kv, (_name, told) => {
      if (told.startsWith('turn:')) key = told
      return false
    })
    await processOver(spy.store).run(attempt, async () => ok)
    return key
  }

  test('that was lost meanwhile is no turn: nobody is asked', async () => {
    const [platform, kv] = [new Platform(), memory()]
    const key = await turnKey(kv)
    const login: LimitedLogin = async (refusal) => {
      await kv.overwrite(key, 'another', 60) // while the session was being checked
      return platform.wrong()(refusal)
    }
    expect(refusedFor(await processOver(kv).run(attempt, login))).toBe('too_many_attempts')
    expect(platform.asked).toBe(0)
  })
  test('of which the store does not say whose it is, is none either', async () => {
    const platform = new Platform()
    let isAway = false
    const { store } = outage(memory(), (name) => isAway && isWrite(name))
    const login: LimitedLogin = async (refusal) => {
      isAway = true
      return platform.wrong()(refusal)
    }
    expect(refusedFor(await processOver(store).run(attempt, login))).toBe('unavailable')
    expect(platform.asked).toBe(0)
  })
  test('of a process that is gone is the one’s who sends its form again, and nobody else’s', async () => {
    const [platform, kv] = [new Platform(), memory()]
    const site = processOver(kv)
    const hangs: LimitedLogin = async (refusal) => (await refusal()) ?? new Promise<LoginResult>(() => {})
    site.run(by('ada', undefined, 's1'), hangs)
    const other = site.run(by('ada', undefined, 's2', true), platform.right())
    expect(await Promise.race([other, sleep(300)])).toBeUndefined()
    expect(await site.run(by('ada', undefined, 's1', true), platform.right())).toBe(ok)
    expect(await other).toBe(ok)
  })
  test('outlives an Authenticate of a process that cannot say that it has it', async () => {
    const kv = memory()
    const logins = new Logins(kv, '', () => [])
    await logins.takeTurn('ada', 'm1')
    seconds += 8.5
    expect(await logins.takeTurn('ada', 'm2')).toBe(false)
    seconds += 2
    expect(await logins.takeTurn('ada', 'm2')).toBe(true)
  })
})

describe('[F3] what a store that was away is told at last', () => {
  const stage = async (before: number) => {
    const [platform, kv] = [new Platform(), memory()]
    const site = processOver(kv)
    for (let tries = 0; tries < before; tries += 1) await site.run(by('ada', 'own'), platform.wrong())
    let isAway = false
    const { store, seen } = outage(kv, (name) => isAway && isWrite(name))
    const late = processOver(store)
    const turn = (away: boolean) => {
      isAway = away
    }
    const inTheDark = () =>
      late.run(
        by('ada', 'late'),
        platform.wrong('ada', async () => turn(true)),
      )
    return { platform, site, kv, late, turn, inTheDark, seen }
  }

  test('is told', async () => {
    const { platform, site, turn, inTheDark } = await stage(3)
    await inTheDark()
    turn(false)
    await sleep(700)
    expect(refusedFor(await site.run(attempt, platform.right()))).toBe('too_many_attempts')
  })
  test('is told before the next stranger has his turn', async () => {
    const { platform, site, kv } = await stage(3)
    let isAway = false
    const { store } = outage(kv, (name, key) => isAway && isWrite(name) && !key.startsWith('turn:'))
    const goesAway = async () => {
      isAway = true
    }
    await processOver(store).run(attempt, platform.wrong('ada', goesAway))
    const next = site.run(attempt, platform.wrong())
    await sleep(100)
    isAway = false
    expect(refusedFor(await next)).toBe('too_many_attempts')
    expect(platform.left()).toBe(1)
  })
  test('is no old news: a login since then counts', async () => {
    const { platform, site, turn, inTheDark } = await stage(3)
    await inTheDark()
    await site.run(by('ada', 'own'), platform.right())
    turn(false)
    await sleep(700)
    expect(await site.run(attempt, platform.right())).toBe(ok)
  })
  test('is told no more once the site is closed', async () => {
    const { late, inTheDark, seen } = await stage(3)
    await inTheDark()
    late.stop()
    const commands = seen.length
    await sleep(1200)
    expect(seen).toHaveLength(commands)
  })
  test('is what the platform has told, where the store said nothing before and after', async () => {
    const [platform, kv] = [new Platform(), memory()]
    const site = processOver(kv)
    for (let tries = 0; tries < 3; tries += 1) await site.run(by('ada', 'own'), platform.wrong())
    let isAway = true
    const { store } = outage(kv, () => isAway)
    await processOver(store).run(by('ada', 'late'), platform.wrong())
    isAway = false
    await sleep(700)
    expect(refusedFor(await site.run(attempt, platform.right()))).toBe('too_many_attempts')
  })
  test('is told at once where the store is back by then', async () => {
    const [platform, kv] = [new Platform(), memory()]
    const site = processOver(kv)
    for (let tries = 0; tries < 3; tries += 1) await site.run(by('ada', 'own'), platform.wrong())
    let isAway = true
    const { store } = outage(kv, () => isAway)
    await processOver(store).run(
      by('ada', 'late'),
      platform.wrong('ada', async () => {
        isAway = false
      }),
    )
    expect(refusedFor(await site.run(attempt, platform.right()))).toBe('too_many_attempts')
  })
})

test('[F3] a login leaves the newer hold of a try that was judged after it', async () => {
  const [platform, site] = [new Platform(), processOver(memory())]
  await site.run(attempt, platform.wrong())
  const wrongOnes = async () => {
    for (let tries = 0; tries < 4; tries += 1) await site.run(by('ada', 'own'), platform.wrong())
  }
  expect(await site.run(attempt, platform.right('ada', wrongOnes))).toBe(ok)
  expect(refusedFor(await site.run(attempt, platform.wrong()))).toBe('too_many_attempts')
  expect(platform.left()).toBe(1)
})

test('[F3] tries of known browsers that are judged at once leave the lower count', async () => {
  const [platform, site] = [new Platform(), processOver(memory())]
  await site.run(by('ada', 'own'), platform.wrong())
  const others = async () => {
    for (let tries = 0; tries < 2; tries += 1) await site.run(by('ada', 'other'), platform.wrong())
  }
  await site.run(by('ada', 'own'), platform.wrong('ada', others))
  seconds += HOLD_SECONDS + 1
  await site.run(attempt, platform.untold('invalid_otp')) // one less than one
  expect(refusedFor(await site.run(attempt, platform.right()))).toBe('too_many_attempts')
})

test.each<[what: string, does: (platform: Platform) => LimitedLogin]>([
  ['a wrong password', (platform) => platform.wrong(WIDE)],
  ['a login', (platform) => platform.right(WIDE)],
])('[F3, F13] %s of a name that only looks like another freezes nothing, whenever it comes', async (_what, does) => {
  let orders = 0
  for (let isReached = true; isReached; orders += 1) {
    const [platform, kv] = [new Platform(), memory()]
    isReached = false
    const site = processOver(
      interruptedAt(kv, orders, async () => {
        isReached = true
        await processOver(kv).run(by(WIDE, 'own'), does(platform))
      }),
    )
    for (let tries = 0; tries < 7; tries += 1) await site.run(attempt, platform.untold('invalid_otp'))
    expect([orders, platform.left() >= 1]).toEqual([orders, true])
  }
  expect(orders).toBeGreaterThan(20)
})

test.each<[what: string, result: LoginResult]>([
  ['held, or not his turn', { ok: false, error: 'too_many_attempts' }],
  ['under way elsewhere', { ok: false, error: 'busy' }],
  ['not answered', { ok: false, error: 'unavailable' }],
])('[F4] a login that is %s costs no attempt', async (_what, result) => {
  const [platform, site] = [new Platform(), processOver(memory(), { attempts: 2, perSeconds: 60 })]
  for (let tries = 0; tries < 300; tries += 1)
    await site.run(by(`n${tries % 3}`, tries % 2 ? 'own' : undefined), async () => result)
  expect(await site.run(by('n1', 'own'), platform.right())).toBe(ok)
  expect(await site.run(by('n2'), platform.right())).toBe(ok)
})

test('[F4] a name that is held costs a stranger one command of the store, and no attempt at all', async () => {
  const [platform, kv] = [new Platform(), memory()]
  const { store, seen } = outage(kv, () => false)
  const site = processOver(store, { attempts: 5, perSeconds: 60 })
  for (let tries = 0; tries < 4; tries += 1) await site.run(attempt, platform.wrong())
  seen.length = 0
  for (let tries = 0; tries < 600; tries += 1) await site.run(attempt, platform.wrong())
  expect(new Set(seen)).toEqual(new Set(['mget held']))
  expect(seen).toHaveLength(600)
  expect(await site.run(by('grace'), platform.right('grace'))).toBe(ok)
})

test.each<[who: string, deviceMark: string | undefined, commands: readonly string[]]>([
  ['a stranger', undefined, ['held', 'turn', 'held', 'left', 'turn', 'turn']],
  ['a known browser', 'own', ['left']],
])('a login costs %s few commands of the store, beside its budgets', async (_who, deviceMark, commands) => {
  const { store, seen } = outage(memory(), () => false)
  await processOver(store).run(by('ada', deviceMark), new Platform().right())
  expect(seen.map((command) => command.split(' ')[1])).toEqual(commands)
})
