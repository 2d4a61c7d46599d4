import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { type LogoutCookie, type LogoutResult, readLogoutCookie, writeLogoutCookie } from '../../lib/decide/logout'
import { NO_ENTRY } from '../../lib/decide/record'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { shortHash } from '../../lib/storage/site-store'
import { logOut, logOutLandedToken, retryLogoutFromCookie } from '../../lib/web/actions/log-out'
import { resolveUser } from '../../lib/web/actions/resolve-user'
import type { RequestContext } from '../../lib/web/request-context'
import { StoredRecord } from '../../lib/web/stored-record'
import { hearEvents } from '../safety/session-support'
import { tapped } from '../storage/failing-kv'
import { KEY, OTHER_KEY, realClock, siteOver } from '../storage/stores'
import { ACCOUNT, device, keyNamed, type LogoutSite, now, openLogoutSite, SID, sidHash } from './logout-site'
import { configOf } from './session-site'

/*
 * A logout of one request, if Redis or the SSO system does not carry out one of its steps: what the user is told, what the logout cookie says, and
 * what is left to do. test/web/finish-logout.test.ts has the steps that follow.
 */

const recent: LogoutCookie = { of: 'recent' }

let setup: LogoutSite
let key: string
let elsewhere: string
beforeEach(async () => {
  setup = await openLogoutSite((clock) => new MemoryKv(() => clock.now * 1000))
  key = await setup.begin('own')
  elsewhere = await setup.begin('elsewhere', { sid: 'sid-of-another-browser' })
})
afterEach(() => setup.close())

interface Facts {
  readonly sessionKey?: string | undefined
  readonly logoutCookie?: LogoutCookie
  /** Was the logout cookie set a moment ago? */
  readonly isLogoutRecent?: boolean
  /** Has this process another secret than the one that encrypted the session? */
  readonly isBlind?: boolean
  /** What another process does before each compare-and-set. */
  readonly meanwhile?: (name: string) => Promise<unknown>
}

/** A request with the cookie of a session, and with a logout cookie. */
async function request(facts: Facts): Promise<RequestContext> {
  const { sessionKey, logoutCookie, isLogoutRecent, isBlind, meanwhile } = facts
  const { site } = setup
  const sent = isLogoutRecent && logoutCookie ? writeLogoutCookie(logoutCookie, [KEY], now()) : undefined
  const kv = tapped(setup.kv, (command, [name]) =>
    command === 'compareAndSet' ? meanwhile?.(String(name)) : undefined,
  )
  const parts = siteOver(kv, realClock, setup.stored.prefix, isBlind ? [OTHER_KEY] : undefined)
  const config = configOf()
  const page = { timeLimits: { ...config, lockSeconds: 4 }, identifyHealth: { noteReturnFromIdentify: () => {} } }
  const more = { macKeys: [KEY], sessions: { replaceWithEmptySession: async () => {} }, ...page }
  const own = { ...site, ...parts, ...more, config } as unknown as RequestContext['site']
  const stored = new StoredRecord(own, sessionKey, sessionKey === undefined ? NO_ENTRY : 'unavailable')
  await stored.reread()
  return {
    site: own,
    req: { url: '/', ip: device.ipa, headers: { 'user-agent': device.uas, cookie: sent && `sso2.o=${sent}` } },
    res: new ServerResponse(new IncomingMessage(new Socket())),
    stored,
    hasUnreadableCookie: false,
    browser: { binding: undefined, logoutCookie },
    running: { onLogout: false },
  } as unknown as RequestContext
}

/** The logout cookie that the response sets, or `'dropped'`. */
function cookieIn({ res }: RequestContext): LogoutCookie | 'dropped' | undefined {
  const [line] = [res.getHeader('set-cookie') ?? []].flat().map(String)
  const [, value] = /^sso2\.o=([^;]*)/.exec(line ?? '') ?? []
  return value === '' ? 'dropped' : readLogoutCookie(value, [KEY], now())
}

const refuse = () => setup.become({ sts: undefined, err: 'unknown_error' })
/** Does something after the first step of a logout, and before the SSO system responds. */
function whileSsoIsAsked(happen: () => void): void {
  setup.become({ sts: 'terminated' }, 60)
  setTimeout(happen, 20)
}
const pending = (id = sidHash) => setup.stored.pendingLogouts.find(id)
const states = () => setup.states([key, elsewhere])

describe('a logout', () => {
  test.each([
    [false, 'live'],
    [true, 'ended'],
  ])('is confirmed, and a login that a landing finds now ends too (of all: %s)', async (isAll, other) => {
    const context = await request({ sessionKey: key })
    expect([await logOut(context, isAll), await states()]).toEqual(['confirmed', ['ended', other]])
    expect([setup.calls().length, cookieIn(context), context.stored.key]).toEqual([1, recent, undefined])
  })

  test('that the SSO system refuses is pending, and the cookie names its SSO session', async () => {
    refuse()
    const context = await request({ sessionKey: key })
    expect([await logOut(context, false), await states()]).toEqual(['pending', ['ended', 'live']])
    expect(cookieIn(context)).toEqual({ of: 'sso_session', sidHash })
    expect(await pending()).toMatchObject({ sid: SID, key, isAll: false, isConfirmed: false })
  })

  test.each([false, true])('that Redis does not keep either is in the cookie (of all: %s)', async (isAll) => {
    refuse()
    setup.fail({ text: 'pend:' })
    const context = await request({ sessionKey: key })
    const cookie = { of: 'session', key, isAll, isConfirmed: false, sidHash }
    expect([await logOut(context, isAll), cookieIn(context)]).toEqual(['pending', cookie])
    expect(await logOut(context, isAll)).toBe('pending') // retries the logout of that cookie
  })

  test('of all that the SSO system has confirmed is kept if a session of the account did not end', async () => {
    whileSsoIsAsked(() => setup.fail({ text: 'acct:' }))
    const context = await request({ sessionKey: key })
    expect([await logOut(context, true), cookieIn(context)]).toEqual(['pending', recent])
    expect(await pending()).toMatchObject({ isAll: true, isConfirmed: true })
  })

  test('of a session that no secret of this process decrypts ends here, and at the next login of the browser', async () => {
    const context = await request({ sessionKey: key, isBlind: true })
    expect([await logOut(context, false), await states()]).toEqual(['pending', ['ended', 'live']])
    expect([cookieIn(context), setup.calls(), setup.starts()]).toEqual([{ of: 'next_login' }, [], 0])
  })

  test.each([false, true])(
    'of a session that Redis does not return is in the cookie, and this process remembers it (of all: %s)',
    async (isAll) => {
      setup.fail({ text: key, only: 'mget' })
      const context = await request({ sessionKey: key })
      const named = { of: 'session', key, isAll, isConfirmed: false }
      expect([await logOut(context, isAll), cookieIn(context), setup.calls()]).toEqual(['pending', named, []])
      expect([...setup.site.deferredLogouts.values()]).toEqual([{ ...named, device }])
    },
  )

  test.each<[what: string, act: () => Promise<unknown>, result: LogoutResult, cookie: LogoutCookie, calls: number]>([
    ['ends it', async () => {}, 'pending', { of: 'next_login' }, 0],
    ['ends the login that another tab writes meanwhile', () => setup.begin('new'), 'confirmed', recent, 1],
  ])('of a session without a record %s', async (_what, act, result, cookie, calls) => {
    const fresh = keyNamed('new')
    await setup.stored.records.saveData(fresh, '{}', 600)
    const context = await request({ sessionKey: fresh })
    await act()
    expect([await logOut(context, false), cookieIn(context)]).toEqual([result, cookie])
    expect([await setup.stateOf(fresh), setup.calls().length, setup.starts()]).toEqual(['ended', calls, 0])
  })

  test('tries 12 times if another process writes a record of a later release before each try', async () => {
    let writes = 0
    const meanwhile = async (name: string) => {
      writes += 1
      if (writes < 20) await setup.kv.compareAndSet(name, undefined, `{"v":${1000 + writes}}`, 600)
    }
    const context = await request({ sessionKey: keyNamed('new'), meanwhile })
    expect([await logOut(context, false), cookieIn(context), writes]).toEqual(['pending', { of: 'next_login' }, 12])
  })

  describe('if Redis does not end the session', () => {
    const cookie = (more: object) => ({ of: 'session', key, isAll: false, isConfirmed: false, sidHash, ...more })
    beforeEach(() => setup.fail({ text: key, only: 'compareAndSet' }))

    test.each([false, true])('is sent to the SSO system, and pending (of all: %s)', async (isAll) => {
      const context = await request({ sessionKey: key })
      expect([await logOut(context, isAll), cookieIn(context)]).toEqual([
        'pending',
        cookie({ isAll, isConfirmed: isAll }),
      ])
      expect(await pending()).toMatchObject({ key, isAll, isConfirmed: true })
      expect([setup.calls().length, await states()]).toEqual([1, ['live', isAll ? 'ended' : 'live']])
    })

    test('ends the session once Redis is back', async () => {
      whileSsoIsAsked(() => setup.fail())
      const context = await request({ sessionKey: key })
      expect([await logOut(context, false), await states()]).toEqual(['pending', ['ended', 'live']])
    })

    test('does not end the session if Redis does not keep the logout', async () => {
      whileSsoIsAsked(() => setup.fail({ text: 'pend:' }))
      const context = await request({ sessionKey: key })
      expect([await logOut(context, false), await states()]).toEqual(['pending', ['live', 'live']])
    })

    test.each([false, true])(
      'and no secret decrypts the session, this process remembers it (of all: %s)',
      async (isAll) => {
        const context = await request({ sessionKey: key, isBlind: true })
        expect([await logOut(context, isAll), setup.calls()]).toEqual(['pending', []])
        expect(cookieIn(context)).toEqual(cookie({ isAll }))
        expect([...setup.site.deferredLogouts.values()]).toEqual([cookie({ isAll, device })])
        expect([setup.starts(), await pending()]).toEqual([1, 'not_found'])
      },
    )
  })
})

describe('a logout of a browser that has no session any more, but a logout cookie,', () => {
  const sso: LogoutCookie = { of: 'sso_session', sidHash }
  const keep = (isConfirmed = false) =>
    setup.stored.pendingLogouts.add(
      sidHash,
      { sid: SID, ...device, key, accountId: ACCOUNT, isAll: false, isConfirmed },
      now(),
    )

  test.each([false, true])('retries, and what Identify finds then ends too (of all: %s)', async (isAll) => {
    await keep()
    const context = await request({ logoutCookie: sso })
    expect(await logOut(context, isAll)).toBe(isAll ? 'no_session' : 'confirmed')
    expect(cookieIn(context)).toEqual(recent)
    const again = await request({ logoutCookie: sso })
    expect([await logOut(again, false), cookieIn(again), setup.calls().length]).toEqual(['confirmed', recent, 1])
  })

  test('is pending while the SSO system refuses', async () => {
    await keep()
    refuse()
    const context = await request({ logoutCookie: sso })
    expect([await logOut(context, false), cookieIn(context)]).toEqual(['pending', undefined])
  })

  test('is pending if no session of that logout is known, and keeps the cookie', async () => {
    const context = await request({ logoutCookie: { of: 'next_login' } })
    expect([await logOut(context, false), cookieIn(context)]).toEqual(['pending', undefined])
  })

  test('without a logout cookie does nothing itself, and what Identify finds then ends', async () => {
    const context = await request({})
    expect(await logOut(context, false)).toBe('no_session')
    expect([cookieIn(context), setup.calls()]).toEqual([recent, []])
  })

  test('after a recent logout begins its time anew, and asks nobody', async () => {
    const context = await request({ logoutCookie: recent })
    expect([await logOut(context, false), cookieIn(context), setup.calls()]).toEqual(['no_session', recent, []])
  })
})

describe('the retry for a logout cookie', () => {
  test('is over without one', async () => {
    expect(await retryLogoutFromCookie(await request({}))).toEqual({ outcome: 'finished', isAll: false })
  })

  test.each([
    ['ends a login, and no other session of the account', () => {}, 'confirmed', 'dropped'],
    ['waits for the SSO system', refuse, 'pending', { of: 'sso_session', sidHash }],
  ])('of the next login %s', async (_what, before, outcome, cookie) => {
    before()
    const context = await request({ sessionKey: key, logoutCookie: { of: 'next_login' } })
    const events = hearEvents()
    const begun = performance.now()
    expect(await retryLogoutFromCookie(context)).toEqual({ outcome, isAll: false })
    expect(events.messages).toMatchObject([{ operation: 'logout' }])
    expect(events.messages[0]?.durationMs).toBeLessThanOrEqual(performance.now() - begun)
    events.stop()
    expect([cookieIn(context), await states()]).toEqual([cookie, ['ended', 'live']])
    expect(events.heard).toEqual([`logout ${outcome} logged_out_before`])
  })

  test.each<[what: string, logoutCookie: LogoutCookie, cookie: LogoutCookie | 'dropped']>([
    ['of the next login', { of: 'next_login' }, recent],
    ['of a session', { of: 'session', key: 'x'.repeat(43), isAll: false, isConfirmed: false, sidHash }, recent],
    ['of a recent logout', recent, 'dropped'],
  ])('%s of a moment ago is over, and what Identify finds then ends too, once', async (_what, logoutCookie, cookie) => {
    await setup.stored.pendingLogouts.markFinished(sidHash, { key, accountId: ACCOUNT, isAll: false })
    const context = await request({ sessionKey: key, logoutCookie, isLogoutRecent: true })
    await retryLogoutFromCookie(context)
    expect(cookieIn(context)).toEqual(cookie)
  })

  test.each([
    ['ends', refuse, 'logout_pending', false],
    ['is not read again', () => setup.fail({ text: key, only: 'mget' }), 'store_unavailable', true],
  ])('comes before the page, which shows no user whose session %s', async (_what, change, degraded, isLeft) => {
    const context = await request({ sessionKey: key, logoutCookie: recent })
    change()
    expect(await resolveUser(context, { identify: 'never' })).toMatchObject({ record: undefined, degraded })
    setup.fail()
    expect([await states(), context.stored.key]).toEqual([['ended', 'live'], isLeft ? key : undefined])
  })

  test('of the next login leaves an anonymous session', async () => {
    const anonymous = await setup.begin('anonymous', { isLogin: false })
    const context = await request({ sessionKey: anonymous, logoutCookie: { of: 'next_login' } })
    expect(await retryLogoutFromCookie(context)).toEqual({ outcome: 'not_found', isAll: false })
    expect([cookieIn(context), await setup.stateOf(anonymous)]).toEqual([undefined, 'live'])
  })

  test('of a session adds the logout that Redis does not have, and ends the session', async () => {
    const logoutCookie = { of: 'session', key, isAll: true, isConfirmed: false, sidHash } as const
    const context = await request({ logoutCookie })
    expect(await retryLogoutFromCookie(context)).toEqual({ outcome: 'confirmed', isAll: true })
    expect([cookieIn(context), await states()]).toEqual(['dropped', ['ended', 'ended']])
  })

  test('of a session that Redis does not return is remembered', async () => {
    const logoutCookie = { of: 'session', key, isAll: true, isConfirmed: false, sidHash } as const
    const context = await request({ logoutCookie })
    setup.fail({ text: key })
    expect(await retryLogoutFromCookie(context)).toEqual({ outcome: 'pending', isAll: true })
    expect([...setup.site.deferredLogouts.values()]).toEqual([{ ...logoutCookie, device }])
    expect([cookieIn(context), setup.starts()]).toEqual([undefined, 1])
  })
})

describe('a landing with the token of a login', () => {
  const LANDED = 'sid-of-a-landing'
  let landed: string
  beforeEach(async () => {
    landed = await setup.begin('landed', { sid: LANDED })
  })
  const landedStates = async () => [await setup.stateOf(landed), ...(await states())]

  test('ends the SSO session of the token, and drops the cookie', async () => {
    const context = await request({ logoutCookie: { of: 'next_login' } })
    expect(await logOutLandedToken(context, LANDED)).toBe(true)
    expect([cookieIn(context), await landedStates()]).toEqual(['dropped', ['ended', 'live', 'live']])
    expect(setup.calls()).toEqual([{ url: '/logout', sid: LANDED, aid: undefined, ...device }])
  })

  test('ends the SSO session of the token without a cookie too', async () => {
    const context = await request({})
    expect([await logOutLandedToken(context, LANDED), cookieIn(context)]).toEqual([false, undefined])
    expect(await setup.stateOf(landed)).toBe('ended')
  })

  test('adds a pending logout if the SSO system refuses, and the cookie names it', async () => {
    refuse()
    const context = await request({ logoutCookie: { of: 'next_login' } })
    expect(await logOutLandedToken(context, LANDED)).toBe(false)
    expect(cookieIn(context)).toEqual({ of: 'sso_session', sidHash: shortHash(LANDED) })
    expect(await pending(shortHash(LANDED))).toMatchObject({ sid: LANDED, isAll: false, isConfirmed: false })
  })

  test('leaves a cookie for the next login if neither the SSO system nor Redis takes the logout', async () => {
    refuse()
    setup.fail({ text: 'pend:' })
    const context = await request({})
    expect([await logOutLandedToken(context, LANDED), cookieIn(context)]).toEqual([false, { of: 'next_login' }])
  })

  test('first ends the session that the cookie names, and all of its account', async () => {
    const context = await request({ logoutCookie: { of: 'session', key, isAll: true, isConfirmed: false, sidHash } })
    expect(await logOutLandedToken(context, LANDED)).toBe(true)
    expect([cookieIn(context), await landedStates()]).toEqual(['dropped', ['ended', 'ended', 'ended']])
    expect(setup.calls().map(({ url }) => url)).toEqual(['/logoutall', '/logout'])
  })

  test('leaves the cookie while the session that it names cannot be ended', async () => {
    const context = await request({ logoutCookie: { of: 'session', key, isAll: true, isConfirmed: false, sidHash } })
    setup.fail({ text: key, only: 'mget' })
    expect([await logOutLandedToken(context, LANDED), cookieIn(context)]).toEqual([false, undefined])
    setup.fail()
    expect([await landedStates(), setup.calls().length]).toEqual([['ended', 'live', 'live'], 1])
  })
})
