import type { KeptLogout } from '../../lib/storage/kept-logouts'
import type { Kv } from '../../lib/storage/kv'
import type { StoredFlight, StoredTries } from '../../lib/storage/logins'
import { storeUnavailable } from '../../lib/storage/unavailable'
import { KEY, NOW, OTHER_KEY, siteOver, stores, type TestClock, type TestSite, winners } from './stores'

const device = { ipa: '192.0.2.1', uas: 'a browser' }
const one: KeptLogout = { sid: 'the-sid', ...device }
const all: KeptLogout = { ...one, aid: 'ada' }

/** The same store, where one part of the queue cannot be read. */
const withPartAway = (kv: Kv) =>
  new Proxy(kv, {
    get: (store, name) => {
      const value: unknown = Reflect.get(store, name, store)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) =>
        name === 'takeDue' && String(args[0]).includes('logouts2')
          ? Promise.reject(storeUnavailable())
          : Reflect.apply(value, store, args)
    },
  })

describe.each(stores)('in %s', (name, open) => {
  const clock: TestClock = { now: NOW }
  let kv: Kv
  let site: TestSite
  beforeAll(() => {
    kv = open(clock)
  })
  beforeEach(() => {
    site = siteOver(kv, clock)
  })
  afterAll(() => kv.close())
  const rotated = (...keys: (typeof KEY)[]) => siteOver(kv, clock, site.prefix, keys)

  describe('a kept logout', () => {
    test('comes back as it was kept, and nothing else is known', async () => {
      expect(await site.keptLogouts.keep('h1', one, NOW)).toBe('done')
      expect(await site.keptLogouts.keep('h2', all, NOW)).toBe('done')
      expect(await site.keptLogouts.find('h1')).toEqual(one)
      expect(await site.keptLogouts.find('h2')).toEqual(all)
      expect(await site.keptLogouts.find('h3')).toBe('gone')
    })

    test('of all sessions stays one of all, whatever is kept after it', async () => {
      await site.keptLogouts.keep('h1', all, NOW)
      await site.keptLogouts.keep('h1', { ...one, uas: 'another browser' }, NOW)
      expect(await site.keptLogouts.find('h1')).toEqual({ ...all, uas: 'another browser' })
      await rotated(KEY).keptLogouts.keep('h1', one, NOW)
      expect(await site.keptLogouts.find('h1')).toEqual({ ...all, uas: 'another browser' })
      await site.keptLogouts.confirm('h1')
      await site.keptLogouts.keep('h1', one, NOW)
      expect(await site.keptLogouts.find('h1')).toEqual(one)
    })

    test('becomes one of all by a logout of all, of ten at once too', async () => {
      await Promise.all(
        Array.from({ length: 10 }, (_, index) => site.keptLogouts.keep('h1', index === 4 ? all : one, NOW)),
      )
      expect(await site.keptLogouts.find('h1')).toEqual(all)
    })

    test('that another process has confirmed meanwhile is not kept again', async () => {
      await site.keptLogouts.keep('h1', one, NOW)
      await rotated(KEY).keptLogouts.confirm('h1')
      await site.keptLogouts.restore(NOW + 1, 8)
      expect(await site.keptLogouts.find('h1')).toBe('confirmed')
      expect(await site.keptLogouts.takeDue(NOW + 1, 8)).toEqual([])
    })

    test('is known to whoever has its secret; nobody else reads it, or takes it for gone', async () => {
      await site.keptLogouts.keep('h1', one, NOW)
      expect(JSON.stringify(await kv.mget([`${site.prefix}pend:{logouts1}h1`]))).not.toContain('the-sid')
      expect(await rotated(OTHER_KEY, KEY).keptLogouts.find('h1')).toEqual(one)
      expect(await rotated(OTHER_KEY).keptLogouts.find('h1')).toBe('unknown')
    })

    test('is taken when due, left to whoever took it for 5 s, and gone from the queue once confirmed', async () => {
      const { keptLogouts } = site
      await keptLogouts.keep('h1', one, NOW)
      await keptLogouts.keep('h2', one, NOW + 100)
      expect(await keptLogouts.takeDue(NOW - 1, 8)).toEqual([])
      expect(await keptLogouts.takeDue(NOW, 8)).toEqual(['h1'])
      expect(await keptLogouts.takeDue(NOW + 4, 8)).toEqual([])
      expect(await keptLogouts.takeDue(NOW + 5, 8)).toEqual(['h1'])
      expect(await keptLogouts.confirm('h1')).toBe('done')
      expect(await keptLogouts.find('h1')).toBe('confirmed')
      expect(await keptLogouts.takeDue(NOW + 99, 8)).toEqual([])
      expect(await keptLogouts.takeDue(NOW + 100, 8)).toEqual(['h2'])
      expect(await keptLogouts.drop('h2')).toBe('done')
      expect(await keptLogouts.takeDue(NOW + 999, 8)).toEqual([])
      expect(await keptLogouts.find('h2')).toEqual(one)
    })

    test.each([
      [0, [5, 30, 120, 120]],
      [1, [6, 36, 144, 144]],
    ])('with a spread of %i is due again after %j s', async (spread, waits) => {
      await site.keptLogouts.keep('h1', one, NOW)
      for (const wait of waits) {
        await site.keptLogouts.postpone('h1', NOW, spread)
        expect(await site.keptLogouts.takeDue(NOW + wait - 1, 8)).toEqual([])
        expect(await site.keptLogouts.takeDue(NOW + wait, 8)).toEqual(['h1'])
      }
    })

    test('that waits is due when the SSO system is back, and one that somebody has just taken is not', async () => {
      for (const hash of ['h1', 'h2']) await site.keptLogouts.keep(hash, one, NOW)
      expect((await site.keptLogouts.takeDue(NOW, 8)).length).toBe(2)
      await site.keptLogouts.keep('h3', one, NOW)
      for (let tries = 0; tries < 2; tries += 1) await site.keptLogouts.postpone('h3', NOW, 0)
      expect(await site.keptLogouts.takeDue(NOW + 1, 8)).toEqual([])
      expect(await site.keptLogouts.hasten(NOW + 1)).toBe('done')
      expect(await site.keptLogouts.takeDue(NOW + 1, 8)).toEqual(['h3'])
    })

    test('of a clock an hour ahead is due, and those of good clocks wait their time', async () => {
      await site.keptLogouts.keep('h1', one, NOW + 3600)
      await site.keptLogouts.keep('h2', one, NOW + 144)
      expect(await site.keptLogouts.takeDue(NOW, 8)).toEqual(['h1'])
    })

    describe('that the store has lost', () => {
      const [pend, queue] = [() => `${site.prefix}pend:{logouts1}h1`, () => `${site.prefix}logouts:{logouts1}`]
      const lose = () => Promise.all([kv.del(pend()), kv.dequeue(queue(), 'h1')])

      test('is kept again by the process that kept it, and stays one of all', async () => {
        await site.keptLogouts.keep('h1', all, NOW)
        await site.keptLogouts.keep('h1', one, NOW)
        await lose()
        expect(await site.keptLogouts.find('h1')).toBe('gone')
        expect(await site.keptLogouts.restore(NOW + 1, 8)).toBe('done')
        expect(await site.keptLogouts.find('h1')).toEqual(all)
        expect(await site.keptLogouts.takeDue(NOW + 1, 8)).toEqual(['h1'])
      })

      test('of its place in the queue alone has that again, and another one keeps its time', async () => {
        for (const hash of ['h1', 'h2']) await site.keptLogouts.keep(hash, one, NOW + 50)
        await kv.dequeue(queue(), 'h1')
        await site.keptLogouts.restore(NOW, 8)
        expect(await site.keptLogouts.takeDue(NOW, 8)).toEqual(['h1'])
        expect(new Set(await site.keptLogouts.takeDue(NOW + 50, 8))).toEqual(new Set(['h1', 'h2']))
      })

      test('after it was confirmed, here or elsewhere, or a day later, is none any more', async () => {
        for (const [ends, now] of [
          [() => site.keptLogouts.confirm('h1'), NOW],
          [() => rotated(KEY).keptLogouts.confirm('h1'), NOW],
          [async () => {}, NOW + 86_400],
        ] as const) {
          await site.keptLogouts.keep('h1', one, NOW)
          await ends()
          await site.keptLogouts.restore(now, 8)
          await lose()
          await site.keptLogouts.restore(now, 8)
          expect(await site.keptLogouts.find('h1')).toBe('gone')
        }
      })

      test('is looked for a few at a time, all of them in turn', async () => {
        const hashes = Array.from({ length: 10 }, (_, index) => `h${index}`)
        for (const hash of hashes) await site.keptLogouts.keep(hash, one, NOW)
        for (const hash of hashes) await kv.del(`${site.prefix}pend:{logouts${hash.charCodeAt(1) % 8}}${hash}`)
        const found = async () =>
          (await Promise.all(hashes.map((hash) => site.keptLogouts.find(hash)))).filter((one) => one !== 'gone').length
        for (const count of [4, 8, 10]) {
          await site.keptLogouts.restore(NOW, 4)
          expect(await found()).toBe(count)
        }
      })
    })

    test('goes to one of ten parallel takers, and is tried again by one', async () => {
      for (const hash of ['h1', 'h2', 'h3']) await site.keptLogouts.keep(hash, one, NOW)
      const taken = await winners(10, () => site.keptLogouts.takeDue(NOW, 8))
      expect(taken.flat().sort()).toEqual(['h1', 'h2', 'h3'])
      expect(await winners(10, () => site.keptLogouts.claim('h1'))).toEqual([true])
      expect(await site.keptLogouts.release('h1')).toBe('done')
      expect(await winners(10, () => site.keptLogouts.claim('h1'))).toEqual([true])
    })

    test('waits its turn where many are due: from each part of the queue, the oldest first', async () => {
      const hashes = Array.from({ length: 24 }, (_, index) => `h${Math.floor(index / 8)}${index % 8}`)
      for (const [index, hash] of [...hashes.entries()].reverse()) await site.keptLogouts.keep(hash, one, NOW + index)
      for (const from of [0, 8, 16])
        expect(await site.keptLogouts.takeDue(NOW + 99, 8)).toEqual(hashes.slice(from, from + 8))
      expect(await site.keptLogouts.takeDue(NOW + 99, 8)).toEqual([])
    })

    test('is taken though another part of the queue cannot be read; with none to take, that is known', async () => {
      const { keptLogouts } = siteOver(withPartAway(kv), clock, site.prefix)
      for (const hash of ['h1', 'h2', 'h3']) await keptLogouts.keep(hash, one, NOW)
      expect(await keptLogouts.takeDue(NOW, 8)).toEqual(['h1', 'h3'])
      expect(await keptLogouts.takeDue(NOW, 8)).toBe('unavailable')
    })
  })

  describe('a login under way', () => {
    const flightOf = async (logins = site.logins): Promise<StoredFlight> => {
      const found = await logins.flight('k1')
      if (found === 'unavailable') throw new Error('no store')
      return found
    }

    const begin = async (before: string | null = null, digest = 'digest'): Promise<string> => {
      const held = await site.logins.beginFlight('k1', before, digest)
      if (held === false || held === 'unavailable') throw new Error('not begun')
      return held
    }
    const done = {
      digest: 'digest',
      result: { ok: true, user: { accountId: 'ada' } },
      sessionId: 'the-session',
    } as const
    const triesOf = async (name: string): Promise<StoredTries> => {
      const stored = await site.logins.tries(name)
      if (stored === 'unavailable') throw new Error('the store is away')
      return stored
    }
    /** After so many seconds; Redis goes by the real clock. */
    const pass = async (seconds: number) => {
      clock.now += seconds
      if (name === 'Redis') await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
    }
    /** What is said 0.6 s apart about a lease of 2 s. A busy machine that is late has shown nothing: it begins again, at another site. */
    const inTime = async (words: readonly (() => Promise<unknown>)[]): Promise<unknown[]> => {
      for (let tries = 1; ; tries += 1) {
        const said: unknown[] = []
        let [before, longest] = [performance.now(), 0]
        for (const word of words) {
          if (said.length > 0) await pass(0.6)
          const begun = performance.now()
          said.push(await word())
          longest = Math.max(longest, performance.now() - before)
          before = begun
        }
        if (longest < 1500 || tries === 3) return said
        site = siteOver(kv, clock)
      }
    }

    test('is begun by one of ten, and found by the others', async () => {
      expect(await flightOf()).toEqual({ raw: null, flight: undefined, isHeld: false })
      const held = await winners(10, () => site.logins.beginFlight('k1', null, 'digest'))
      expect(held).toEqual([expect.any(String)])
      expect(await flightOf()).toEqual({ raw: held[0], flight: { digest: 'digest' }, isHeld: true })
    })

    test('leaves its result and its session for a while, on which one of ten begins the next', async () => {
      expect(await site.logins.endFlight('k1', await begin(), done)).toBe(true)
      const { raw, flight } = await flightOf()
      expect(flight).toEqual(done)
      expect(raw).not.toContain('the-session')
      expect((await winners(10, () => site.logins.beginFlight('k1', raw, 'next'))).length).toBe(1)
    })

    test('is held by whoever says so, however long it takes, and known to be left 2 s after his last word', async () => {
      let held = ''
      const begun = async () => {
        held = await begin()
      }
      const hold = () => site.logins.holdFlight('k1', held)
      const isHeld = async () => (await flightOf()).isHeld
      const said = await inTime([begun, hold, hold, hold, hold, isHeld])
      expect(said).toEqual([undefined, true, true, true, true, true])
      await pass(2.1)
      expect(await flightOf()).toEqual({ raw: held, flight: { digest: 'digest' }, isHeld: false })
    })

    test('that was taken over is no longer held, or ended, by whoever had it', async () => {
      const first = await begin()
      const second = await begin(first)
      expect(await site.logins.holdFlight('k1', first)).toBe(false)
      expect(await site.logins.endFlight('k1', first, done)).toBe(false)
      expect(await flightOf()).toEqual({ raw: second, flight: { digest: 'digest' }, isHeld: true })
      expect(await site.logins.endFlight('k1', second, done)).toBe(true)
    })

    test('of a process with another secret is none that can be joined', async () => {
      await site.logins.beginFlight('k1', null, 'digest')
      const { raw, flight } = await flightOf(rotated(OTHER_KEY).logins)
      expect([typeof raw, flight]).toEqual(['string', undefined])
    })

    test('holds a name against strangers until it is released', async () => {
      expect(await site.logins.heldUntil('ada')).toBe(0)
      expect(await site.logins.hold('ada', NOW + 900, 900)).toBe('done')
      expect([await site.logins.heldUntil('ada'), await site.logins.heldUntil('bob')]).toEqual([NOW + 900, 0])
      expect(await site.logins.noteTries('ada', null, { left: 1, spelling: '17' }, 900)).toBe(true)
      const { raw } = await triesOf('ada')
      expect(await site.logins.release('ada', raw ?? '', NOW + 900)).toBe('done')
      expect(await site.logins.heldUntil('ada')).toBe(0)
      expect(await triesOf('ada')).toEqual({ raw: null, tries: undefined })
    })

    test('releases a name of what was known of it before, and of nothing newer', async () => {
      await site.logins.noteTries('ada', null, { left: 2, spelling: '17' }, 900)
      const { raw } = await triesOf('ada')
      await site.logins.noteTries('ada', raw, { left: 1, spelling: '17' }, 900)
      await site.logins.hold('ada', NOW + 900, 900)
      await site.logins.release('ada', raw ?? '', NOW + 900)
      expect([await site.logins.heldUntil('ada'), (await triesOf('ada')).tries?.left]).toEqual([NOW + 900, 1])
      await site.logins.release('ada', (await triesOf('ada')).raw ?? '', NOW + 899)
      expect([await site.logins.heldUntil('ada'), (await triesOf('ada')).tries]).toEqual([NOW + 900, undefined])
    })

    test('remembers how many tries a name has left, where nobody else has noted any since', async () => {
      expect(await triesOf('ada')).toEqual({ raw: null, tries: undefined })
      expect(await site.logins.noteTries('ada', null, { left: 3, spelling: '17' }, 60)).toBe(true)
      expect(await site.logins.noteTries('ada', null, { left: 4, spelling: '18' }, 60)).toBe(false)
      const { raw, tries } = await triesOf('ada')
      expect(tries).toEqual({ left: 3, spelling: '17' })
      expect(await site.logins.noteTries('ada', raw, { left: 2, spelling: undefined }, 60)).toBe(true)
      expect((await triesOf('ada')).tries).toEqual({ left: 2, spelling: undefined })
      expect((await triesOf('bob')).tries).toBeUndefined()
    })

    test('reads the count of the version before, which reads ours; what nobody can read is a name without a try', async () => {
      const spelling = '9'.repeat(29)
      for (const left of [1, 2, 4]) {
        await site.logins.noteTries(`n${left}`, null, { left, spelling }, 60)
        const { raw } = await triesOf(`n${left}`)
        expect(Number(raw)).toBe(left)
        await kv.overwrite(`${site.prefix}left:old${left}`, String(left), 60)
        expect((await triesOf(`old${left}`)).tries).toEqual({ left, spelling: undefined })
      }
      for (const odd of ['v7:ada', '3x', '3.5', '-1']) {
        await kv.overwrite(`${site.prefix}left:odd`, odd, 60)
        expect((await triesOf('odd')).tries).toEqual({ left: 0, spelling: undefined })
      }
    })

    test('of strangers on one name goes one after the other', async () => {
      expect(await winners(10, () => site.logins.takeTurn('ada', 'm1'))).toEqual([true])
      expect(await site.logins.takeTurn('bob', 'm2')).toBe(true)
      expect(await site.logins.leaveTurn('ada', 'm1')).toBe('done')
      expect(await winners(10, () => site.logins.takeTurn('ada', 'm3'))).toEqual([true])
    })

    test('leaves its turn to the one who sends the same form again, and to nobody else', async () => {
      expect(await site.logins.inheritTurn('ada', 's1.', 's1.b')).toBe(false)
      await site.logins.takeTurn('ada', 's1.a')
      expect(await site.logins.inheritTurn('ada', 's2.', 's2.b')).toBe(false)
      expect(await winners(5, (index) => site.logins.inheritTurn('ada', 's1.a', `s1.b${index}`))).toEqual([true])
      expect(await site.logins.holdTurn('ada', 's1.a')).toBe(false)
      expect(await site.logins.inheritTurn('ada', 's1.', 's1.c')).toBe(true)
    })

    test('has its turn for longer than a flight without a word, and whoever comes late leaves no turn but his own', async () => {
      await site.logins.takeTurn('ada', 'm1')
      await pass(2.1)
      expect(await site.logins.takeTurn('ada', 'm2')).toBe(false)
      expect(await site.logins.holdTurn('ada', 'm1')).toBe(true)
      await kv.del(`${site.prefix}turn:ada`) // as when its time is over
      expect(await site.logins.takeTurn('ada', 'm2')).toBe(true)
      expect(await site.logins.holdTurn('ada', 'm1')).toBe(false)
      await site.logins.leaveTurn('ada', 'm1')
      expect(await site.logins.takeTurn('ada', 'm3')).toBe(false)
    })
  })
})
