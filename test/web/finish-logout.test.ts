import { type PendingLogout, pendingLogoutId } from '../../lib/decide/logout'
import type { DeferredLogout } from '../../lib/storage/logout-memory'
import { MAX_SESSIONS } from '../../lib/storage/session-index'
import { shortHash } from '../../lib/storage/site-store'
import {
  completeLogout,
  endLocalSessions,
  endWithoutRecord,
  resumeDeferredLogout,
  resumeDeferredLogouts,
  retryPendingLogout,
} from '../../lib/web/actions/finish-logout'
import type { Site } from '../../lib/web/site'
import { StoredRecord } from '../../lib/web/stored-record'
import { OTHER_KEY, realClock, siteOver, stores } from '../storage/stores'
import { eventually } from '../support/wait'
import { ACCOUNT, device, keyNamed, type LogoutSite, now, openLogoutSite, SID, sidHash } from './logout-site'

/*
 * The steps of a logout, one at a time: which sessions end, what stays in the indexes and the queue, and what is called at the SSO system.
 * Commands fail as on a master that is away: those of one session, index or logout.
 */

describe.each(stores)('over %s', (_name, open) => {
  let setup: LogoutSite
  beforeEach(async () => {
    setup = await openLogoutSite(open)
  })
  afterEach(() => setup.close())
  const logout = (more: Partial<PendingLogout> = {}): PendingLogout => ({
    sid: SID,
    ...device,
    key: undefined,
    accountId: undefined,
    isAll: false,
    isConfirmed: false,
    ...more,
  })

  describe('the sessions on this site', () => {
    /** Two sessions of the browser's SSO session, one elsewhere of the same account, and one of another account. */
    const fourSessions = async () => ({
      own: await setup.begin('own'),
      same: await setup.begin('same'),
      elsewhere: await setup.begin('elsewhere', { sid: 'sid-of-another-browser' }),
      other: await setup.begin('other', { sid: 'sid-of-grace', accountId: 'account-grace' }),
    })

    test('a logout ends the sessions of the SSO session', async () => {
      const { own, same, elsewhere, other } = await fourSessions()
      const scope = { key: own, accountId: ACCOUNT, isAll: false }
      expect(await endLocalSessions(setup.site, sidHash, scope)).toBe('done')
      expect(await setup.states([own, same, elsewhere, other])).toEqual(['ended', 'ended', 'live', 'live'])
      await eventually(async () => (await setup.ofAccount()).join() === elsewhere)
      expect(await setup.ofSso()).toEqual([])
      expect([await setup.isSsoSessionRevoked(), await setup.isAccountRevoked()]).toEqual([true, false])
      expect(await setup.isSsoSessionRevoked('sid-of-another-browser')).toBe(false)
    })

    test('a logout of all ends the sessions of the account', async () => {
      const { own, same, elsewhere, other } = await fourSessions()
      const scope = { key: own, accountId: ACCOUNT, isAll: true }
      expect(await endLocalSessions(setup.site, sidHash, scope)).toBe('done')
      expect(await setup.states([own, same, elsewhere, other])).toEqual(['ended', 'ended', 'ended', 'live'])
      await eventually(async () => (await setup.ofAccount()).length === 0)
      expect(await setup.ofAccount('account-grace')).toEqual([other])
      expect([await setup.isSsoSessionRevoked(), await setup.isAccountRevoked()]).toEqual([true, true])
    })

    test('the logout of a landing has no session of its own', async () => {
      const { own, same, elsewhere } = await fourSessions()
      const scope = { key: undefined, accountId: undefined, isAll: false }
      expect(await endLocalSessions(setup.site, sidHash, scope)).toBe('done')
      expect(await setup.states([own, same, elsewhere])).toEqual(['ended', 'ended', 'live'])
      await eventually(async () => (await setup.ofSso()).length === 0)
      expect(await setup.ofAccount()).toEqual([elsewhere, own, same].sort()) // removed when they are found there
    })

    test('an anonymous session ends, although no index has it', async () => {
      const key = await setup.begin('anonymous', { isLogin: false })
      expect(await endLocalSessions(setup.site, sidHash, { key, accountId: undefined, isAll: false })).toBe('done')
      expect(await setup.stateOf(key)).toBe('ended')
    })

    test('an index beyond its limit is processed in parts', async () => {
      const keys = Array.from({ length: MAX_SESSIONS + 3 }, (_, index) => keyNamed(`many-${index}`))
      const { sessionIndex } = setup.stored
      const start = sessionIndex.startNow()
      await Promise.all(keys.map((key) => sessionIndex.add({ key, sidHash, accountId: ACCOUNT }, 600, start)))
      const scope = { key: undefined, accountId: ACCOUNT, isAll: true }
      expect(await endLocalSessions(setup.site, sidHash, scope)).toBe('done')
      expect(new Set(await setup.states(keys))).toEqual(new Set(['ended']))
      await eventually(async () => (await setup.ofSso()).length === 0 && (await setup.ofAccount()).length === 0)
    })

    test.each([
      ['a session of the SSO session', () => keyNamed('same'), ['ended', 'live', 'ended']],
      ["the browser's own session", () => keyNamed('own'), ['live', 'ended', 'ended']],
      ['the index of the SSO session', () => `sid:{${sidHash}}`, ['ended', 'ended', 'ended']],
      ['the index of the account', () => `acct:{${shortHash(ACCOUNT)}}`, ['ended', 'ended', 'live']],
    ])('a logout of all is not done without %s, but ends the others', async (_what, textOf, expected) => {
      const { own, same, elsewhere } = await fourSessions()
      const scope = { key: own, accountId: ACCOUNT, isAll: true }
      const text = textOf()
      setup.fail({ text, only: text.includes(':') ? undefined : 'compareAndSet' })
      expect(await endLocalSessions(setup.site, sidHash, scope)).toBe('unavailable')
      setup.fail()
      expect(await setup.states([own, same, elsewhere])).toEqual(expected)
      expect(await endLocalSessions(setup.site, sidHash, scope)).toBe('done')
      expect(await setup.states([own, same, elsewhere])).toEqual(['ended', 'ended', 'ended'])
    })

    test('a session that did not end stays in its indexes, and the others leave them', async () => {
      const { own, same, elsewhere } = await fourSessions()
      setup.fail({ text: same, only: 'compareAndSet' })
      await endLocalSessions(setup.site, sidHash, { key: own, accountId: ACCOUNT, isAll: true })
      setup.fail()
      await eventually(async () => !(await setup.ofAccount()).includes(elsewhere))
      expect([await setup.ofSso(), await setup.ofAccount()]).toEqual([[same], [same]])
    })
  })

  describe('at the SSO system', () => {
    const { key, accountId } = { key: keyNamed('own'), accountId: ACCOUNT }

    test('a logout is confirmed', async () => {
      expect(await completeLogout(setup.site, logout({ key, accountId }))).toBeUndefined()
      expect(setup.calls()).toEqual([{ url: '/logout', sid: SID, aid: undefined, ...device }])
      expect(await setup.isAccountRevoked()).toBe(false)
    })

    test('a logout of all names the account, and ends sessions that began meanwhile', async () => {
      const late = await setup.begin('late', { sid: 'sid-of-a-late-login' })
      expect(await completeLogout(setup.site, logout({ key, accountId, isAll: true }))).toBeUndefined()
      expect(setup.calls()).toEqual([{ url: '/logoutall', sid: undefined, aid: ACCOUNT, ...device }])
      expect([await setup.stateOf(late), await setup.isAccountRevoked()]).toEqual(['ended', true])
      await eventually(async () => (await setup.ofAccount()).length === 0)
    })

    test('a confirmed logout is not sent again', async () => {
      expect(await completeLogout(setup.site, logout({ accountId, isAll: true, isConfirmed: true }))).toBeUndefined()
      expect([setup.calls(), await setup.isAccountRevoked()]).toEqual([[], true])
    })

    test('a logout of all that is confirmed is left if a session of the account did not end', async () => {
      const late = await setup.begin('late')
      setup.fail({ text: late })
      const found = logout({ accountId, isAll: true })
      expect(await completeLogout(setup.site, found)).toEqual({ ...found, isConfirmed: true })
    })

    test.each([
      ['the SSO session is not known', { err: 'session_not_found' }, true],
      ['the SSO system refuses', { err: 'unknown_error' }, false],
      ['the response is no logout', { sts: 'anon' }, false],
    ])('%s', async (_what, claims, isDone) => {
      setup.become({ sts: undefined, ...claims })
      const found = logout()
      expect(await completeLogout(setup.site, found)).toBe(isDone ? undefined : found)
    })
  })

  describe('a retry', () => {
    const pend = (id: string) => `pend:{logouts${id.charCodeAt(id.length - 1) % 8}}${id}`
    const add = async (more: Partial<PendingLogout> = {}) => {
      const key = await setup.begin('own')
      const found = logout({ key, accountId: ACCOUNT, ...more })
      expect(await setup.stored.pendingLogouts.add(sidHash, found, now() - 7)).toBe('done')
      return key
    }
    const retry = () => retryPendingLogout(setup.site, sidHash)
    const isLocked = async () => (await setup.stored.pendingLogouts.lockRetry(sidHash)) === false

    test('ends the sessions, calls Logout, and is finished', async () => {
      const key = await add()
      expect(await retry()).toEqual({ outcome: 'confirmed', isAll: false })
      expect([await setup.stateOf(key), setup.calls().length]).toEqual(['ended', 1])
      expect([await setup.stored.pendingLogouts.find(sidHash), await setup.queued()]).toEqual(['finished', []])
      expect(await retry()).toEqual({ outcome: 'finished', isAll: false })
      expect(setup.calls().length).toBe(1)
    })

    test('of a logout of all says so', async () => {
      await add({ isAll: true })
      expect(await retry()).toEqual({ outcome: 'confirmed', isAll: true })
      expect(setup.calls()).toEqual([{ url: '/logoutall', sid: undefined, aid: ACCOUNT, ...device }])
    })

    test('waits longer if the SSO system refuses, and may follow at once', async () => {
      const earliest = now() - 7
      const key = await add({ isAll: true })
      const latest = now() - 7
      setup.become({ sts: undefined, err: 'unknown_error' })
      const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now()) // no busy machine makes the call slow
      const { waitsSince = 0, ...rest } = await retry()
      clock.mockRestore()
      expect(rest).toEqual({ outcome: 'pending', isAll: true })
      expect([waitsSince >= earliest, waitsSince <= latest]).toEqual([true, true])
      expect([await setup.stateOf(key), await isLocked()]).toEqual(['ended', false])
    })

    test('that took long is followed by a pause', async () => {
      await add()
      setup.become({ sts: undefined, err: 'unknown_error' }, 1050)
      expect((await retry()).outcome).toBe('pending')
      expect(await isLocked()).toBe(true)
    })

    test('does not call Logout while a session has not ended', async () => {
      const key = await add()
      setup.fail({ text: key })
      expect(await retry()).toEqual({ outcome: 'pending', isAll: false })
      expect(setup.calls()).toEqual([])
      setup.fail()
      expect(await retry()).toEqual({ outcome: 'confirmed', isAll: false })
    })

    test('notes the confirmation if a session of the account has not ended', async () => {
      await add({ isAll: true })
      // the sessions end before the call, and Redis fails after it
      setup.fail({ text: `acct:{${shortHash(ACCOUNT)}}`, only: 'revokeAndList', passing: 1 })
      expect(await retry()).toEqual({ outcome: 'pending', isAll: true })
      expect(await setup.stored.pendingLogouts.find(sidHash)).toMatchObject({ isConfirmed: true, isAll: true })
      setup.fail()
      expect(await retry()).toEqual({ outcome: 'confirmed', isAll: true })
      expect(setup.calls().length).toBe(1)
    })

    test('of another request or process is not disturbed', async () => {
      const key = await add({ isAll: true })
      await setup.stored.pendingLogouts.lockRetry(sidHash)
      expect(await retry()).toEqual({ outcome: 'pending', isAll: true })
      expect([await setup.stateOf(key), setup.calls()]).toEqual(['live', []])
    })

    test('stays pending if Redis does not return the logout', async () => {
      await add()
      setup.fail({ text: pend(sidHash) })
      expect(await retry()).toEqual({ outcome: 'pending', isAll: undefined })
    })

    test('is kept as confirmed if Redis does not note the end', async () => {
      await add()
      setup.fail({ text: 'pend:', only: 'compareAndSet' })
      expect(await retry()).toEqual({ outcome: 'confirmed', isAll: false })
      setup.fail()
      await setup.kv.del(`${setup.stored.prefix}${pend(sidHash)}`)
      const [restored] = await setup.stored.pendingLogouts.restoreLost(now(), 10)
      expect(restored).toMatchObject({ sid: SID, isConfirmed: true })
    })

    test('of a logout that Redis does not have leaves the queue', async () => {
      await setup.kv.enqueue(`${setup.stored.prefix}logouts:{logouts${sidHash.charCodeAt(15) % 8}}`, sidHash, now())
      expect(await setup.queued()).toEqual([sidHash])
      expect(await retry()).toEqual({ outcome: 'not_found', isAll: false })
      expect(await setup.queued()).toEqual([])
    })

    test('of a logout that another secret encrypted is left to others, for as long as possible', async () => {
      const other = siteOver(setup.kv, realClock, setup.stored.prefix, [OTHER_KEY])
      await other.pendingLogouts.add(sidHash, logout(), now())
      const waitsSince = Number.NEGATIVE_INFINITY
      expect(await retry()).toEqual({ outcome: 'not_found', isAll: undefined, waitsSince })
      expect(await setup.queued()).toEqual([sidHash])
    })
  })

  describe('a deferred logout', () => {
    const deferred = (key: string, more: Partial<DeferredLogout> = {}): DeferredLogout => ({
      of: 'session',
      key,
      isAll: false,
      isConfirmed: false,
      device,
      ...more,
    })

    test('adds a pending logout and ends the session', async () => {
      const key = await setup.begin('own')
      const elsewhere = await setup.begin('elsewhere', { sid: 'sid-of-another-browser' })
      expect(await resumeDeferredLogout(setup.site, deferred(key))).toBe('done')
      expect(await setup.states([key, elsewhere])).toEqual(['ended', 'live'])
      const added = { sid: SID, ...device, key, accountId: ACCOUNT, isAll: false, isConfirmed: false }
      expect(await setup.stored.pendingLogouts.find(pendingLogoutId(deferred(key)))).toMatchObject(added)
      expect([setup.starts(), setup.calls()]).toEqual([1, []])
    })

    test('of all ends the sessions of the account, and keeps a confirmation', async () => {
      const key = await setup.begin('own')
      const elsewhere = await setup.begin('elsewhere', { sid: 'sid-of-another-browser' })
      const all = deferred(key, { isAll: true, isConfirmed: true, sidHash })
      expect(await resumeDeferredLogout(setup.site, all)).toBe('done')
      expect(await setup.states([key, elsewhere])).toEqual(['ended', 'ended'])
      expect(await setup.stored.pendingLogouts.find(sidHash)).toMatchObject({ isAll: true, isConfirmed: true })
    })

    test('ends the session that follows a moved one', async () => {
      const [old, id] = [await setup.begin('old'), 'the ID of the session that follows']
      const { records } = setup.stored
      const found = await records.read(old)
      if (found === 'unavailable') throw new Error(found)
      await records.writeMarker(old, found.raw, 'moved', id)
      const stored = new StoredRecord(setup.site, old, 'unavailable')
      expect(await stored.switchTo(id)).toBe('done')
      await records.replace(String(stored.key), null, String(found.raw), 600)
      expect(await resumeDeferredLogout(setup.site, deferred(old))).toBe('done')
      expect(await setup.stateOf(String(stored.key))).toBe('ended')
    })

    test('of a session without a record ends it, if it has data', async () => {
      const [key, gone] = [keyNamed('own'), keyNamed('gone')]
      await setup.stored.records.saveData(key, '{}', 600)
      expect(await resumeDeferredLogout(setup.site, deferred(key))).toBe('done')
      expect(await resumeDeferredLogout(setup.site, deferred(gone))).toBe('done')
      expect([await setup.states([key, gone]), setup.starts()]).toEqual([['ended', 'none'], 0])
    })

    test('of a session that no secret of the process decrypts ends it here', async () => {
      const key = await setup.begin('own')
      const other = siteOver(setup.kv, realClock, setup.stored.prefix, [OTHER_KEY])
      const blind = { ...setup.site, ...other } as Site
      expect(await resumeDeferredLogout(blind, deferred(key))).toBe('done')
      expect([await setup.stateOf(key), await setup.queued(), setup.starts()]).toEqual(['ended', [], 0])
    })

    test.each([
      ['return the session', 'sso2:', 'mget'],
      ['end the session', 'sso2:', 'compareAndSet'],
      ['store the pending logout', 'pend:', 'compareAndSet'],
    ] as const)('waits if Redis does not %s', async (what, text, only) => {
      const key = await setup.begin('own')
      setup.fail({ text, only })
      const { deferredLogouts } = setup.site
      deferredLogouts.set(key, deferred(key))
      await resumeDeferredLogouts(setup.site)
      expect(await resumeDeferredLogout(setup.site, deferred(key))).toBe('unavailable')
      setup.fail()
      expect([what, await setup.stateOf(key), deferredLogouts.size]).toEqual([what, 'live', 1])
      await resumeDeferredLogouts(setup.site)
      expect([what, await setup.stateOf(key), deferredLogouts.size]).toEqual([what, 'ended', 0])
    })

    test('that replaces another one under way is kept', async () => {
      const key = await setup.begin('own')
      const { deferredLogouts } = setup.site
      deferredLogouts.set(key, deferred(key))
      const first = resumeDeferredLogouts(setup.site)
      const all = deferred(key, { isAll: true })
      deferredLogouts.set(key, all)
      await first
      expect([await setup.stateOf(key), deferredLogouts.get(key)]).toEqual(['ended', all])
    })

    test('waits if Redis does not write the marker of a session without a record', async () => {
      setup.fail({ text: 'sso2:', only: 'compareAndSet' })
      expect(await resumeDeferredLogout(setup.site, deferred(keyNamed('gone')))).toBe('unavailable')
    })
  })

  describe('a session without a readable record', () => {
    test('that the browser does not have, or that has ended, needs no marker', async () => {
      expect(await endWithoutRecord(new StoredRecord(setup.site, undefined, 'unavailable'))).toBe('done')
      const key = await setup.begin('own')
      await setup.stored.records.end(key)
      const ended = new StoredRecord(setup.site, key, 'unavailable')
      await ended.reread()
      setup.fail({ text: 'sso2:', only: 'compareAndSet' })
      expect(await endWithoutRecord(ended)).toBe('done')
    })

    test.each<[what: string, act: (key: string) => Promise<unknown>, state: string]>([
      ['has written a record', () => setup.begin('own'), 'live'],
      ['has ended it', (key) => setup.stored.records.end(key), 'ended'],
    ])('is not ended if another request %s', async (_what, act, state) => {
      const key = keyNamed('own')
      const stored = new StoredRecord(setup.site, key, 'unavailable')
      await stored.reread()
      await act(key)
      expect([await endWithoutRecord(stored), await setup.stateOf(key)]).toEqual(['changed', state])
    })
  })
})
