import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptResult } from '../../lib/decide/attempts'
import { Counts } from '../../lib/storage/counts'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { shortHash, storeUnavailable } from '../../lib/storage/site-store'
import { Limits, type Refusal } from '../../lib/web/limits'
import { tapped } from '../storage/failing-kv'
import { siteOver } from '../storage/stores'

/* User names under attack, with a store in memory: another request comes between any two commands of the first. */

const clock = { now: 0 }
let warned: string[] = []
let platform: Platform
beforeEach(() => {
  clock.now = Date.now() / 1000
  warned = []
  platform = new Platform()
})
afterEach(() => jest.restoreAllMocks())
const memory = () => new MemoryKv(() => clock.now * 1000)

const LIMIT = { attempts: 100, perSeconds: 60 }
const by = (username: string, isRecognised = false, session = 's1', address = '192.0.2.7') => ({
  address,
  username,
  account: isRecognised ? 'account-hash' : undefined,
  session,
})
const unrecognised = by('ada')
const owner = by('ada', true, 's9')

const encryptionKeys = () => [Buffer.alloc(32, 7)]

/** One process over a store. */
function processOver(kv: Kv, limit: typeof LIMIT | false = LIMIT, rememberDevices = true) {
  const log = { warn: (cause: string) => void warned.push(cause) } as never
  const { logins: loginLocks, sessionIndex } = siteOver(kv, clock, '')
  const counts = new Counts(kv, '', () => clock.now * 1000)
  const config = { loginLimit: limit, rememberDevices, log, encryptionKeys, cookies: { device: 'd' } } as never
  return new Limits({ config, loginLocks, counts, sessionIndex, now: () => clock.now })
}
type Process = ReturnType<typeof processOver>

/** A platform that freezes at the fifth wrong password of an exact name. */
class Platform {
  left = 5
  asked = 0
  /** Runs one login as the site does. @returns what the browser is told */
  async login(site: Process, tried: ReturnType<typeof by>, judge: () => AttemptResult | Promise<AttemptResult>) {
    const admitted = await site.admitLogin(tried)
    if ('reason' in admitted) return admitted.reason
    const refusal = await admitted.begin()
    const result = refusal === undefined ? await judge() : ({ outcome: 'not_judged' } as const)
    await admitted.end(result)
    return refusal === undefined ? result.outcome : refusal === 'unavailable' ? refusal : (refusal as Refusal).reason
  }
  wrong = (): AttemptResult => {
    this.asked += 1
    this.left -= 1
    return { outcome: 'wrong_password', left: this.left }
  }
  suppressed = (): AttemptResult => ({ ...this.wrong(), outcome: 'wrong_password', left: undefined })
  right = (): AttemptResult => {
    this.asked += 1
    return { outcome: 'success' }
  }
}

/** The first key that a command names. */
const keyOf = ([first]: readonly unknown[]) =>
  Array.isArray(first) ? String(first[0]?.key ?? first[0]) : String(first)
const away = (kv: Kv, isAway: (key: string) => boolean) =>
  tapped(kv, (_name, args) => (isAway(keyOf(args)) ? Promise.reject(storeUnavailable()) : undefined))

test.each<[what: string, first: () => ReturnType<typeof by>, other: () => ReturnType<typeof by>, left: number]>([
  ['two unrecognised browsers', () => unrecognised, () => by('ada', false, 's2'), 2],
  ['an unrecognised and a recognised browser', () => unrecognised, () => owner, 1],
  ['two recognised browsers', () => by('ada', true), () => owner, 1],
])(
  '[F3, F18] of %s at the last attempts of a name none freezes it, whenever the other comes',
  async (...row) => {
    const [, first, other, left] = row
    let orders = 0
    for (let isReached = true; isReached; orders += 1) {
      const kv = memory()
      platform = new Platform()
      const elsewhere = processOver(kv)
      const attack = (site: Process, tried: ReturnType<typeof by>) => platform.login(site, tried, platform.wrong)
      for (let tries = 0; tries < 2; tries += 1) await attack(elsewhere, unrecognised)
      let commands = 0
      let meanwhile: Promise<unknown> | undefined
      const interrupted = tapped(kv, async () => {
        commands += 1
        if (commands !== orders + 1) return
        meanwhile = attack(elsewhere, other())
        await Promise.race([meanwhile, sleep(30)]) // or it waits for the lock
      })
      await attack(processOver(interrupted), first())
      await meanwhile
      for (const tried of [unrecognised, owner, unrecognised]) await attack(elsewhere, tried)
      expect([orders, platform.left >= 1, platform.left <= left]).toEqual([orders, true, true])
      isReached = meanwhile !== undefined
    }
    expect(orders).toBeGreaterThan(3)
  },
  60_000,
)

describe('[F3] an attack on a name', () => {
  const attack = async (tries: number, rememberDevices = true) => {
    const site = processOver(memory(), LIMIT, rememberDevices)
    const said: string[] = []
    for (let count = 0; count < tries; count += 1)
      said.push(await platform.login(site, by('ada', false, `s${count}`, `192.0.2.${count % 200}`), platform.wrong))
    return { site, said }
  }

  test('leaves two attempts, of which one is a recognised browser’s', async () => {
    const { site, said } = await attack(20)
    expect([platform.left, said.at(-1)]).toEqual([2, 'held'])
    expect(await platform.login(site, owner, platform.right)).toBe('success')
    expect(await platform.login(site, owner, platform.wrong)).toBe('wrong_password')
    expect(await platform.login(site, owner, platform.wrong)).toBe('held')
    expect(platform.left).toBe(1)
  })
  test('leaves one attempt where no browser is recognised', async () => {
    await attack(20, false)
    expect(platform.left).toBe(1)
  })
  test('and a success of a name that only looks alike does not improve what is left', async () => {
    const { site } = await attack(20)
    for (const name of ['\uff41\uff44\uff41', 'ADA', '\u00e0da', 'a\u200bda'])
      await platform.login(site, by(name, true, name), platform.right)
    expect(await platform.login(site, unrecognised, platform.wrong)).toBe('held')
  })
  test('is over after 15 minutes', async () => {
    const { site } = await attack(20)
    clock.now += 899
    expect(await platform.login(site, unrecognised, platform.right)).toBe('held')
    clock.now += 2
    expect(await platform.login(site, unrecognised, platform.right)).toBe('success')
  })
  test('whose responses are lost is counted as well', async () => {
    const site = processOver(memory())
    for (let tries = 0; tries < 8; tries += 1) await platform.login(site, unrecognised, platform.suppressed)
    expect(platform.left).toBe(2)
  })
})

/** Each spelling is in test/decide/login-budgets.test.ts. */
test('[F16] spellings of one name share its attempts', async () => {
  const site = processOver(memory())
  for (const letter of ['a', '\u00e0', 'a\u200b', 'a\u00ad', 'A', '\uff41', '\uff21', '\u0103'])
    await platform.login(site, by(`gr${letter}ce`), platform.suppressed)
  expect(platform.left).toBe(2)
})

describe('[F3] the attempt of a process that died', () => {
  const hangs = (site: Process, session: string) =>
    void platform.login(site, by('ada', false, session), () => new Promise(() => {}))

  test('is taken over by its own form, and by no other form', async () => {
    const site = processOver(memory())
    hangs(site, 's1')
    await sleep(20)
    const other = platform.login(site, by('ada', false, 's2'), platform.right)
    expect(await Promise.race([other, sleep(300)])).toBeUndefined()
    expect(await platform.login(site, by('ada', false, 's1'), platform.right)).toBe('success')
    expect(await other).toBe('success')
  })
  test('keeps others out for 12 s at most, and has cost one', async () => {
    const site = processOver(memory())
    for (const session of ['s1', 's2', 's3']) {
      hangs(site, session)
      await sleep(20)
      clock.now += 12.5
    }
    expect(await platform.login(site, unrecognised, platform.right)).toBe('held')
  })
  test('makes others wait five seconds, and look less and less often', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.5)
    const commands: string[] = []
    const site = processOver(tapped(memory(), (name) => void commands.push(name)))
    hangs(site, 's1')
    await sleep(20)
    const slept = jest.spyOn(
      jest.requireActual<typeof import('node:timers/promises')>('node:timers/promises'),
      'setTimeout',
    )
    const begun = performance.now()
    expect(await platform.login(site, by('ada', false, 's2'), platform.right)).toBe('turn')
    expect(performance.now() - begun).toBeGreaterThan(4500)
    const pauses = slept.mock.calls.map(([ms]) => Number(ms))
    expect(pauses).toEqual(pauses.map((_ms, index) => expect.closeTo(Math.min(60 * 1.3 ** index, 375))))
    const looks = commands.filter((name) => name === 'mget').length // 18, and fewer on a busy machine
    expect([looks >= 2, looks <= 20]).toEqual([true, true])
  })
})

describe('[F3] a Redis that is away', () => {
  test('before Authenticate: nothing is asked', async () => {
    const site = processOver(away(memory(), () => true))
    expect(await platform.login(site, unrecognised, platform.wrong)).toBe('unavailable')
    expect(platform.asked).toBe(0)
  })
  test('after Authenticate: the attempt has cost one', async () => {
    let isAway = false
    const site = processOver(away(memory(), () => isAway))
    for (let tries = 0; tries < 3; tries += 1) {
      await platform.login(site, by('ada', false, `s${tries}`), () => {
        isAway = true
        return platform.wrong()
      })
      isAway = false
      clock.now += 13
    }
    expect(await platform.login(site, unrecognised, platform.wrong)).toBe('held')
    expect(platform.left).toBe(2)
  })
  test('for the counts alone: the process counts by itself', async () => {
    const isOfCounts = (key: string) => key.startsWith('limit:')
    const site = processOver(away(memory(), isOfCounts), { attempts: 3, perSeconds: 60 })
    const said: string[] = []
    for (let tries = 0; tries < 5; tries += 1)
      said.push(await platform.login(site, unrecognised, () => ({ outcome: 'refused' })))
    expect(said).toEqual(['refused', 'refused', 'refused', 'address_and_name', 'address_and_name'])
    for (let tries = 0; tries < 40; tries += 1)
      expect(await platform.login(site, by(`n${tries}`), platform.right)).toBe('success')
  })
  test('for the name alone: a recognised browser has its attempts beside its account', async () => {
    const site = processOver(away(memory(), (key) => /^left:(?!\{account-hash\}.)/.test(key)))
    const said: string[] = []
    for (let tries = 0; tries < 5; tries += 1) said.push(await platform.login(site, owner, platform.wrong))
    expect([said, platform.left]).toEqual([[...Array(4).fill('wrong_password'), 'held'], 1])
  })
  test('for the name alone: an unrecognised browser has no other place', async () => {
    const site = processOver(away(memory(), (key) => /^left:(?!\{)/.test(key)))
    expect(await platform.login(site, unrecognised, platform.wrong)).toBe('unavailable')
  })
})

test.each([
  ['others always come first', 8],
  ['Redis is away', 1],
])('if %s, the end of an attempt is written %i times', async (_what, times) => {
  const kv = memory()
  let writes = 0
  const store = tapped(kv, async (name, args) => {
    if (name !== 'compareAndSet' || platform.asked === 0) return
    writes += 1
    if (times === 1) throw storeUnavailable()
    const key = keyOf(args)
    const [raw = null] = await kv.mget([key])
    await kv.compareAndSet(key, raw, `${raw} `, 60)
  })
  expect(await platform.login(processOver(store), unrecognised, platform.wrong)).toBe('wrong_password')
  expect(writes).toBe(times)
})

/** Logs in on a site, and sends the cookie back. */
function remembered(site: Process) {
  const req = new IncomingMessage(new Socket())
  const res = new ServerResponse(req)
  site.rememberDevice(req as never, res as never, 'ada', 'account-ada')
  const [cookie] = String(res.getHeader('set-cookie') ?? '').split(';')
  req.headers.cookie = cookie
  return { cookie, account: (asked = site) => asked.recognisedAccount(req as never, 'ada') }
}

test.each([
  [-1, shortHash('account-ada')],
  [0, undefined],
  [1, undefined],
])('[F18] %i s after a login all sessions are logged out: its device cookie is for %p', async (after, account) => {
  const [kv, issued] = [memory(), Math.floor(clock.now)]
  clock.now = issued
  const device = remembered(processOver(kv))
  expect(await device.account()).toBe(shortHash('account-ada'))
  clock.now = issued + after
  await siteOver(kv, clock, '').sessionIndex.revokeAccount('account-ada')
  expect(await device.account()).toBe(account)
})

test('where no devices are remembered, a login sets no cookie, and an earlier cookie is not read', async () => {
  const site = processOver(memory(), LIMIT, false)
  expect(remembered(site).cookie).toBe('')
  expect(await remembered(processOver(memory())).account(site)).toBeUndefined()
})

test.each<AttemptResult>([{ outcome: 'success' }, { outcome: 'not_judged' }])(
  '[F4] a login that was %j costs no attempt',
  async (result) => {
    const site = processOver(memory(), { attempts: 10, perSeconds: 60 })
    for (let tries = 0; tries < 300; tries += 1)
      expect(await platform.login(site, by(`n${tries % 4}`, tries % 8 > 3), () => result)).toBe(result.outcome)
  },
)

test('[F4] one account logs in a hundred times a minute at most, on whatever browsers', async () => {
  const site = processOver(memory(), { attempts: 10, perSeconds: 60 })
  const said = new Map<string, number>()
  for (let tries = 0; tries < 200; tries += 1) {
    const tried = by('ada', tries % 2 === 0, 's1', `198.${tries}.100.7`)
    const word = await platform.login(site, tried, platform.right)
    said.set(word, (said.get(word) ?? 0) + 1)
  }
  expect(Object.fromEntries(said)).toEqual({ success: 100, name: 100 })
})

test('[F20] a limit that a network or the site has reached is logged by its cause', async () => {
  const site = processOver(memory(), { attempts: 1, perSeconds: 60 })
  const wrongFrom = (index: number, address: string) =>
    platform.login(site, by(`n${index}`, false, 's1', address), () => ({ outcome: 'wrong_password', left: 99 }))
  for (let index = 0; index < 30; index += 1) await wrongFrom(index, `2001:db8:77:ab${10 + index}::1`)
  expect(new Set(warned)).toEqual(new Set(['limit:network']))
  for (let index = 0; index < 400; index += 1) await wrongFrom(index, `198.${index % 200}.100.7`)
  expect(new Set(warned)).toEqual(new Set(['limit:network', 'limit:site']))
})

test('an address without attempts left makes no new key', async () => {
  const keys = new Set<string>()
  let isSpent = false
  const store = tapped(memory(), (name, args) => {
    if (isSpent && name !== 'addToCounts') keys.add(keyOf(args))
  })
  const site = processOver(store, { attempts: 1, perSeconds: 60 })
  const guess = (index: number) =>
    platform.login(site, by(`n${index}`), () => ({ outcome: 'wrong_password', left: 99 }))
  for (let index = 0; index < 5; index += 1) await guess(index)
  isSpent = true
  for (let index = 5; index < 50; index += 1) expect(await guess(index)).toBe('address')
  expect([...keys, ...warned]).toEqual([])
})

test.each<[who: string, tried: ReturnType<typeof by>, commands: readonly string[]]>([
  ['an unrecognised browser', unrecognised, ['addToCounts', 'compareAndSet', 'compareAndSet', 'takeFromCounts']],
  ['a recognised browser', owner, ['compareAndSet', 'compareAndSet']],
])('a login costs %s few commands', async (_who, tried, commands) => {
  const seen: string[] = []
  const store = tapped(memory(), (name) => void seen.push(name))
  await platform.login(processOver(store), tried, platform.right)
  expect(seen).toEqual(commands)
})

test('without a limit, nothing is counted', async () => {
  const store = away(memory(), () => true)
  expect(await platform.login(processOver(store, false), unrecognised, platform.wrong)).toBe('wrong_password')
})
