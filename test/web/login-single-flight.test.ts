import type { LoginResult } from '../../lib/decide/login'
import { serialiseRecord } from '../../lib/decide/record'
import { type FoundForm, LEASE_SECONDS, type LoginForm } from '../../lib/storage/login-locks'
import { sessionKey, shortHash } from '../../lib/storage/site-store'
import { digestOf, joinFinished, type LoginLock, runExclusive } from '../../lib/web/actions/login-single-flight'
import type { RequestContext } from '../../lib/web/request-context'
import { StoredRecord } from '../../lib/web/stored-record'
import { loggedInRecord } from '../decide/samples'
import { failingKv } from '../storage/failing-kv'
import { NOW, OTHER_KEY, siteOver, stores } from '../storage/stores'
import { eventually, pause } from '../support/wait'

/*
 * Which submit of a login form sends Authenticate, and which gets the result of another, for each form that Redis may hold.
 * test/flows/login-death.test.ts kills processes.
 */

const ENDED = NOW * 1000
const [ID, NEW_ID] = ['the ID of the session that has the form', 'the ID of the session after the login']
const refused: LoginResult = { ok: false, error: 'invalid_credentials' }
const loggedIn: LoginResult = { ok: true, user: { accountId: 'account-ada' } }
const own: LoginResult = { ok: false, error: 'account_frozen' }
const busy: LoginResult = { ok: false, error: 'busy' }
const unavailable: LoginResult = { ok: false, error: 'unavailable' }

test('credentials have a digest of their own', () => {
  const digests = [['a', 'bc'], ['ab', 'c'], ['a'], []].map(digestOf)
  expect(new Set(digests).size).toBe(4)
  expect(digestOf(['a', 'bc'])).toBe(digests[0])
})

describe.each(stores)('over %s', (_name, open) => {
  const clock = { now: NOW }
  const { kv, fail } = failingKv(open(clock))
  afterAll(() => kv.close())
  afterEach(() => fail())

  /** A site of its own, and a submit that arrives at a time after the end of the other form. */
  function openSite() {
    const { logins, records, prefix } = siteOver(kv, clock)
    const adopted: string[] = []
    const dropped: string[] = []
    const sessions = { idOf: () => NEW_ID, adopt: async (_req: unknown, id: string) => void adopted.push(id) }
    const lives = { idleSeconds: 600, anonymousIdleSeconds: 600, absoluteSeconds: 6000 }
    const config = { ...lives, clock: { now: () => clock.now * 1000 }, cookies: { logout: 'sso2.out' } }
    const site = { loginLocks: logins, records, sessions, config, now: () => clock.now }
    const browser: { logoutCookie: object | undefined } = { logoutCookie: { of: 'next_login' } }
    const res = { getHeader: () => [], setHeader: (name: string) => dropped.push(name), req: {} }
    const key = sessionKey(ID)
    const stored = new StoredRecord(site, key, 'unavailable')
    const context = { site, browser, res, req: {}, stored } as unknown as RequestContext
    const ran: boolean[] = []
    const submit = (afterMs: number, digest = 'same') => ({ key, digest, arrivedAt: ENDED + afterMs })
    const run = async (lock: LoginLock) => {
      ran.push(lock.isSuccessor)
      return own
    }
    return {
      logins,
      adopted,
      /** Each Authenticate: did its form succeed one whose process had died? */
      ran,
      stored,
      /** Does the browser still have its logout cookie? */
      hasLogoutCookie: () => browser.logoutCookie !== undefined,
      /** Begins a form of another submit. */
      begin: async (digest = 'same', locks = logins) => {
        const begun = await locks.beginForm(key, null, digest)
        if (begun === 'unavailable' || !('held' in begun)) throw new Error('there is another form')
        await kv.expire(`${prefix}login:{${key}}`, 60) // alive without renewals, however long a busy machine takes
        return begun.held
      },
      end: (held: string, form: Partial<LoginForm> = {}) =>
        logins.endForm(key, held, { digest: 'same', result: refused, endedAt: ENDED, ...form }),
      /** Leaves the form as three seconds without a renewal do. */
      age: () => kv.expire(`${prefix}login:{${key}}`, 17),
      forget: () => kv.del(`${prefix}login:{${key}}`),
      otherSecret: () => siteOver(kv, clock, prefix, [OTHER_KEY]).logins,
      find: () => logins.findForm(key),
      found: async () => {
        const found = await logins.findForm(key)
        return found === 'unavailable' ? found : found.form
      },
      takeOver: (raw: string | null, digest: string) => logins.beginForm(key, raw, digest),
      submit: (afterMs: number, { digest = 'same', login = run } = {}) =>
        runExclusive(context, submit(afterMs, digest), login),
      join: (afterMs: number, digest = 'same') => joinFinished(context, submit(afterMs, digest)),
      /** Stores the session after the login. */
      storeSession: () => {
        const sid = 'sid-of-ada'
        const record = loggedInRecord({ sidHash: shortHash(sid), sealedSecrets: records.seal({ sid }) })
        return records.replace(sessionKey(NEW_ID), null, serialiseRecord(record), 600)
      },
    }
  }
  type Site = ReturnType<typeof openSite>
  let site: Site
  beforeEach(() => {
    site = openSite()
  })

  test('the first submit logs in, and stores its result for the others', async () => {
    expect(await site.submit(0)).toBe(own)
    expect([site.ran, await site.found()]).toEqual([[false], { digest: 'same', result: own, endedAt: ENDED }])
  })

  test('the result of a login names the session', async () => {
    expect(await site.submit(0, { login: async () => loggedIn })).toBe(loggedIn)
    expect(await site.found()).toEqual({ digest: 'same', result: loggedIn, endedAt: ENDED, sessionId: NEW_ID })
  })

  describe('after a form that has its result', () => {
    test.each([
      [0, 'same', refused],
      [1, 'same', own],
      [0, 'other', own],
      [-1, 'other', own],
    ])('a submit that arrived %i ms after the result, with the %s credentials', async (afterMs, digest, result) => {
      await site.end(await site.begin())
      expect(await site.submit(afterMs, { digest })).toEqual(result)
      expect(site.ran).toEqual(result === own ? [false] : [])
    })
  })

  /** A submit as it comes, and one after the login of another submit has moved the session. */
  describe.each(['submit', 'join'] as const)('beside a form in progress, a %s', (how) => {
    test('of the same credentials waits for the result', async () => {
      const held = await site.begin()
      const waiting = site[how](60_000)
      await pause(60)
      await site.end(held)
      expect(await waiting).toEqual(refused)
      expect(site.ran).toEqual([])
    })

    test('that another form follows is a new login, or is refused if the session has moved', async () => {
      const held = await site.begin()
      const waiting = site[how](0)
      await pause(60)
      await site.end(held, { digest: 'other' })
      expect([await waiting, site.ran]).toEqual(how === 'submit' ? [own, [false]] : [busy, []])
    })
  })

  describe('beside a form in progress', () => {
    test('a submit of other credentials is refused', async () => {
      await site.begin()
      expect(await site.submit(0, { digest: 'other' })).toEqual(busy)
    })

    test.each([
      ['the same credentials succeeds it', 'same', true],
      ['other credentials is a new login', 'other', false],
    ])('whose process has died, a submit of %s', async (_what, digest, isSuccessor) => {
      await site.begin()
      await site.age()
      expect([await site.submit(0, { digest }), site.ran]).toEqual([own, [isSuccessor]])
    })

    test('that disappears, a submit that waited for it succeeds it', async () => {
      await site.begin()
      const waiting = site.submit(0)
      await pause(60)
      await site.forget()
      expect([await waiting, site.ran]).toEqual([own, [true]])
    })

    test('that only another secret decrypts, a submit waits for its end', async () => {
      await site.begin('same', site.otherSecret())
      const waiting = site.submit(0)
      await pause(60)
      expect(site.ran).toEqual([])
      await site.forget()
      expect([await waiting, site.ran]).toEqual([own, [false]])
    })
  })

  test('without Redis nobody logs in', async () => {
    fail({ text: 'login:' })
    expect([await site.submit(0), site.ran]).toEqual([unavailable, []])
  })

  describe('a submit whose form another process took over', () => {
    const takenOver = (result: LoginResult, digest: string) => async () => {
      await site.forget()
      await site.end(await site.begin(digest), { digest })
      return result
    }

    test.each([
      ['gets the result of the other process', own, 'same', refused],
      ['keeps its result, if the other form has other credentials', own, 'other', own],
      ['keeps its login', loggedIn, 'same', loggedIn],
    ])('%s', async (_what, result, digest, expected) => {
      expect(await site.submit(0, { login: takenOver(result, digest) })).toEqual(expected)
    })

    test('keeps its result if Redis does not answer', async () => {
      const login = async () => {
        fail({ text: 'login:' })
        return own
      }
      expect(await site.submit(0, { login })).toBe(own)
    })
  })

  describe('the lock of a login', () => {
    afterEach(() => jest.restoreAllMocks())

    /** The process stands still for longer than its lock is valid: no timer runs. */
    function standStill(): void {
      const real = performance.now.bind(performance)
      jest.spyOn(performance, 'now').mockImplementation(() => real() + (LEASE_SECONDS + 1) * 1000)
    }
    /** Logs in, and does something else meanwhile. */
    async function duringLogin(act: (lock: LoginLock) => Promise<void>): Promise<void> {
      const login = async (lock: LoginLock) => {
        await act(lock)
        return own
      }
      await site.submit(0, { login })
      expect.hasAssertions()
    }
    /** Ages the form until no renewal comes in between. @returns the form that another submit then finds */
    async function agedForm(): Promise<FoundForm> {
      let found: FoundForm
      // the login renews its form twice a second, on a busy machine in between as well
      do {
        await site.age()
        found = (await site.find()) as FoundForm
      } while (found.isAlive)
      return found
    }

    test('is held while it is young', async () => {
      await duringLogin(async (lock) => expect(await lock.isHeld()).toBe(true))
    })

    test('is held by a process that stood still, if no other submit has taken over', async () => {
      await duringLogin(async (lock) => {
        standStill()
        expect(await lock.isHeld()).toBe(true)
      })
    })

    test('is not taken over if it was renewed after the submit had read it', async () => {
      await duringLogin(async (lock) => {
        const { raw } = await agedForm()
        standStill()
        expect(await lock.isHeld()).toBe(true)
        expect(await site.takeOver(raw, 'same')).toMatchObject({ isAlive: true })
      })
    })

    test('is lost if another submit has taken over', async () => {
      await duringLogin(async (lock) => {
        const takesOver = async () => {
          const { raw } = await agedForm()
          return 'held' in ((await site.takeOver(raw, 'other')) as object)
        }
        await eventually(takesOver) // unless the login has renewed its form in between
        standStill()
        expect(await lock.isHeld()).toBe(false)
      })
    })
  })

  describe('after the login of another submit has moved the session', () => {
    test.each([
      [1000, 'same', refused],
      [1001, 'same', undefined],
      [0, 'other', undefined],
    ])('a submit that arrived %i ms after the result, with the %s credentials', async (afterMs, digest, result) => {
      await site.end(await site.begin())
      expect(await site.join(afterMs, digest)).toEqual(result)
    })

    test('a submit waits for no form whose process has died', async () => {
      await site.begin()
      await site.age()
      expect(await site.join(0)).toEqual(busy)
    })

    test('there is no form', async () => {
      expect(await site.join(0)).toBeUndefined()
    })

    test('Redis does not answer, at once or later', async () => {
      await site.begin()
      fail({ text: 'login:' })
      expect(await site.join(0)).toBeUndefined()
      fail({ text: 'login:', passing: 2 })
      expect(await site.join(0)).toEqual(unavailable)
    })
  })

  describe('the session of a shared login', () => {
    const shared = async (form: Partial<LoginForm> = {}) => {
      await site.end(await site.begin(), { result: loggedIn, sessionId: NEW_ID, ...form })
      return site.submit(0)
    }

    test('is given to the browser, whose logout cookie goes', async () => {
      await site.storeSession()
      expect(await shared()).toEqual(loggedIn)
      expect([site.adopted, site.stored.key, site.hasLogoutCookie()]).toEqual([[NEW_ID], sessionKey(NEW_ID), false])
    })

    test('may have ended', async () => {
      expect(await shared()).toEqual({ ok: false, error: 'session_ended' })
      expect([site.adopted, site.hasLogoutCookie()]).toEqual([[], true])
    })

    test('may be on a master that does not answer', async () => {
      await site.storeSession()
      fail({ text: 'sso2:' })
      expect([await shared(), site.adopted]).toEqual([unavailable, []])
    })

    test.each([
      ['a login without an ID', { sessionId: undefined as never }, loggedIn],
      ['a refused login', { result: refused }, refused],
    ])('is missing after %s', async (_what, form, result) => {
      await site.storeSession()
      expect(await shared(form)).toEqual(result)
      expect([site.adopted, site.stored.key]).toEqual([[], sessionKey(ID)])
    })
  })
})
