import { isLoggedIn, type SsoRecord, serialiseRecord } from '../../lib/decide/record'
import { ExchangeHealth } from '../../lib/remote/ticket'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { MAX_SESSIONS } from '../../lib/storage/session-index'
import { sessionKey, shortHash } from '../../lib/storage/site-store'
import { endWithSsoSession, resolveUser } from '../../lib/web/actions/resolve-user'
import { beginAnonymousSession, moveSession, signInUser } from '../../lib/web/actions/sign-in'
import type { RequestContext } from '../../lib/web/request-context'
import { type NextSession, RunningOperations, type Site } from '../../lib/web/site'
import { StoredRecord } from '../../lib/web/stored-record'
import { anonRecord, loggedInRecord, sessionToken } from '../decide/samples'
import { failingKv, tapped } from '../storage/failing-kv'
import { listedIn, NOW, siteOver } from '../storage/stores'
import { loggerTo } from '../support/log-lines'
import { configOf } from './session-site'

/*
 * The steps by which a session is checked, gets another ID or ends, one at a time: what is left of the old session, the new one and the
 * indexes, if a logout comes between two steps, or if Redis does not carry out one of them.
 */

const [SID, ACCOUNT, NEW_ID] = ['sid-of-ada', 'account-ada', 'ID of the next session'.padEnd(43, '-')]
const sidHash = shortHash(SID)
const [OLD_KEY, NEW_KEY] = ['key of the session'.padEnd(43, '-'), sessionKey(NEW_ID)]
const ada = { user: { accountId: ACCOUNT }, sidHash }

function openSetup() {
  let meanwhile: (() => Promise<unknown>) | undefined
  const { kv, fail } = failingKv(
    // once, after the marker of the old session and before what follows
    tapped(new MemoryKv(() => NOW * 1000), (command, args) => {
      if (command === 'compareAndSet' && !String(args[2]).startsWith('{')) return undefined
      const happen = meanwhile
      meanwhile = undefined
      return happen?.()
    }),
  )
  const stored = siteOver(kv, { now: NOW })
  const renewals: NextSession[] = []
  const emptied: unknown[] = []
  const sessions = {
    nextId: () => NEW_ID,
    renew: async (_req: unknown, next: NextSession) => {
      renewals.push(next)
      return next.id
    },
    replaceWithEmptySession: async (req: unknown) => void emptied.push(req),
    dataLifeOf: () => undefined,
  }
  const config = configOf({ session: { idleSeconds: 600, absoluteSeconds: 60_000 }, logger: loggerTo([]) })
  const sessionStatus = async ({ lks }: { lks: string }) =>
    sessionToken({ sid: SID, sts: 'loggedin', ...(lks === 'anon' && { at: 'ticket' }) })
  const page = { identifyHealth: { noteReturnFromIdentify: () => {} }, runningOperations: new RunningOperations() }
  const login = { exchange: async () => 'token', loadUser: async () => ada.user, exchangeHealth: new ExchangeHealth() }
  const client = { isAvailable: true, sessionStatus }
  const more = { client, timeLimits: { ...config, lockSeconds: 4 }, customLoginHooks: new Set(), now: () => NOW }
  const site = { ...stored, ...page, ...login, ...more, config, sessions } as unknown as Site
  const { records, sessionIndex } = stored

  const write = async (key: string, record: SsoRecord, before: string | null = null) => {
    expect(await records.replace(key, before, serialiseRecord(record), 600)).toBe(true)
    if (isLoggedIn(record)) await sessionIndex.add(entry(key, record), 600, sessionIndex.startNow())
  }
  const entry = (key: string, { sidHash: of = sidHash, user = ada.user } = {}) => ({
    key,
    sidHash: of,
    accountId: user.accountId,
  })
  const read = async (key: string) => {
    const found = await records.read(key)
    if (found === 'unavailable') throw new Error(found)
    return found
  }
  const listed = (index: string) => listedIn(kv, stored, index, NOW)
  return {
    site,
    sessionIndex,
    records,
    fail,
    write,
    entry,
    read,
    renewals,
    emptied,
    stateOf: async (key: string) => (await read(key)).state,
    listed: async () => [await listed(`sid:{${sidHash}}`), await listed(`acct:{${shortHash(ACCOUNT)}}`)],
    ofAccount: (accountId: string) => listed(`acct:{${shortHash(accountId)}}`),
    /** Something that happens before the next record or index entry is written. */
    meanwhile: (happen: () => Promise<unknown>) => {
      meanwhile = happen
    },
    /** A request whose session has the record, if any. */
    async request(record?: SsoRecord, headersSent = false) {
      if (record) await write(OLD_KEY, record)
      const value = new StoredRecord(site, OLD_KEY, 'unavailable')
      await value.reread()
      const [req, browser] = [{ url: '/', headers: {} }, { binding: 'of the browser' }]
      return { site, req, res: { headersSent }, stored: value, browser } as unknown as RequestContext
    },
  }
}
let setup: ReturnType<typeof openSetup>
beforeEach(() => {
  setup = openSetup()
})

const logOut = () => setup.sessionIndex.revokeSsoSession(sidHash)
const end = async (key: string) => void (await setup.records.end(key))
/** Other requests change the record before each attempt to end its session. */
const changeEachTime = () => void jest.spyOn(setup.records, 'writeMarker').mockResolvedValue(false)
const signIn = (context: RequestContext, checkId?: string) =>
  signInUser(
    context,
    {
      user: { accountId: ACCOUNT },
      token: sessionToken({ sid: SID }),
      secrets: { sid: SID },
      accessUntil: undefined,
    },
    setup.sessionIndex.startNow(),
    checkId,
  )

describe('a login', () => {
  test('ends the old session, and begins the next one in both indexes', async () => {
    const context = await setup.request(anonRecord())
    expect(await signIn(context)).toBe('done')
    expect([await setup.stateOf(OLD_KEY), await setup.stateOf(NEW_KEY)]).toEqual(['moved', 'live'])
    expect(await setup.listed()).toEqual([[NEW_KEY], [NEW_KEY]])
    expect(setup.renewals).toEqual([{ id: NEW_ID, taken: null, keepsData: true, accountId: ACCOUNT }])
    expect([context.stored.key, setup.emptied]).toEqual([NEW_KEY, []])
  })

  test('of another account leaves no entry of the old session, and none of its data', async () => {
    const grace = { user: { accountId: 'account-grace' }, sidHash: shortHash('sid-of-grace') }
    expect(await signIn(await setup.request(loggedInRecord(grace)))).toBe('done')
    expect(await setup.ofAccount('account-grace')).toEqual([])
    expect(setup.renewals).toMatchObject([{ keepsData: false }])
  })

  test('ends at once if a logout comes before its entries', async () => {
    const context = await setup.request(anonRecord())
    setup.meanwhile(logOut)
    expect(await signIn(context)).toBe('lost_race')
    expect([await setup.stateOf(OLD_KEY), await setup.stateOf(NEW_KEY)]).toEqual(['moved', 'ended'])
    expect(await setup.listed()).toEqual([[], []])
    expect([context.stored.key, setup.emptied]).toEqual([undefined, [context.req]])
  })

  test('does not begin over the marker of a logout, and leaves no entry', async () => {
    const context = await setup.request(anonRecord())
    setup.meanwhile(() => end(NEW_KEY))
    expect(await signIn(context)).toBe('lost_race')
    expect(await setup.stateOf(NEW_KEY)).toBe('ended')
    expect([await setup.listed(), setup.emptied]).toEqual([[[], []], [context.req]])
  })

  test('does not begin without its record, and leaves no entry', async () => {
    const context = await setup.request(anonRecord())
    setup.fail({ text: NEW_KEY, only: 'compareAndSet' })
    expect(await signIn(context)).toBe('unavailable')
    setup.fail()
    expect([await setup.stateOf(NEW_KEY), await setup.listed()]).toEqual(['none', [[], []]])
    expect([context.stored.key, setup.emptied]).toEqual([undefined, [context.req]])
  })

  test.each(['sid:', 'acct:'])('does not last without its entry in %s', async (text) => {
    const context = await setup.request(anonRecord())
    setup.fail({ text })
    expect(await signIn(context)).toBe('unavailable')
    expect([await setup.stateOf(NEW_KEY), setup.emptied]).toEqual(['ended', [context.req]])
  })

  test.each<[when: string, hasHeaders: boolean, before: () => unknown, result: string, oldState: string]>([
    ['after a logout of its session', false, () => end(OLD_KEY), 'lost_race', 'ended'],
    ['if Redis fails', false, () => setup.fail({ text: 'moved', only: 'compareAndSet' }), 'unavailable', 'live'],
    ['after the headers', true, () => {}, 'too_late', 'live'],
  ])('leaves the old session %s', async (_when, hasHeaders, before, result, oldState) => {
    const context = await setup.request(anonRecord(), hasHeaders)
    await before()
    expect([await signIn(context), await setup.stateOf(OLD_KEY)]).toEqual([result, oldState])
    expect([await setup.stateOf(NEW_KEY), setup.renewals]).toEqual(['none', []])
  })
})

describe('a login of the same user in the same SSO session', () => {
  const renewed = async (since = NOW - 10) => setup.request(loggedInRecord({ ...ada, since, checkedAt: since }))

  test('changes the record alone', async () => {
    const checked = { checkBeganAt: NOW - 1, currentCheckId: 'a check' }
    const context = await setup.request(loggedInRecord({ ...ada, checkedAt: NOW - 10, ...checked }))
    expect(await signIn(context, 'a check')).toBe('renewed')
    expect(await setup.read(OLD_KEY)).toMatchObject({ record: { checkedAt: NOW, lastCheckId: 'a check' } })
    expect([await setup.stateOf(NEW_KEY), setup.renewals]).toEqual(['none', []])
  })

  test.each([
    ['does not renew', 10, 0],
    ['renews', 61, 1],
  ])('%s the index entries after %s seconds', async (_what, seconds, times) => {
    const renew = jest.spyOn(setup.sessionIndex, 'renew')
    await signIn(await renewed(NOW - seconds))
    expect(renew.mock.calls.map(([entry]) => entry)).toEqual(Array(times).fill(setup.entry(OLD_KEY)))
  })

  test('stays logged out if a logout was faster', async () => {
    const context = await renewed()
    await end(OLD_KEY)
    expect([await signIn(context), await setup.stateOf(OLD_KEY)]).toEqual(['lost_race', 'ended'])
  })

  test('is unavailable if Redis does not write it', async () => {
    const context = await renewed()
    setup.fail({ text: OLD_KEY })
    expect(await signIn(context)).toBe('unavailable')
  })
})

test('an anonymous session is in no index, and keeps what is known of it', async () => {
  const context = await setup.request(loggedInRecord(ada))
  const known = { sid: SID, checkedAt: NOW - 5, pending: true, browser: 'a browser', checkId: 'a check' } as const
  expect(await beginAnonymousSession(context, known)).toBe('done')
  const { sid: _sid, checkId: lastCheckId, ...kept } = known
  expect(await setup.read(NEW_KEY)).toMatchObject({ record: { ...kept, status: 'anon', sidHash, lastCheckId } })
  expect(await setup.listed()).toEqual([[], []])
})

describe('a session that only gets another ID', () => {
  const move = async (record?: SsoRecord) => {
    const { stored } = await setup.request(record)
    return { stored, move: () => moveSession(setup.site, stored, NEW_ID) }
  }

  test('moves with its record and its entries', async () => {
    const { stored, move: run } = await move(loggedInRecord(ada))
    expect(await run()).toBe('moved')
    expect([await setup.stateOf(OLD_KEY), stored.key]).toEqual(['moved', NEW_KEY])
    expect(await setup.read(NEW_KEY)).toMatchObject({ record: loggedInRecord(ada) })
    expect(await setup.listed()).toEqual([[NEW_KEY], [NEW_KEY]])
  })

  test('moves with its record if it is anonymous', async () => {
    const { move: run } = await move(anonRecord())
    expect([await run(), await setup.stateOf(NEW_KEY), await setup.listed()]).toEqual(['moved', 'live', [[], []]])
  })

  test.each<[what: string, record: SsoRecord | undefined, before: () => Promise<void>]>([
    ['without a record', undefined, async () => {}],
    ['that a logout has ended', loggedInRecord(ada), () => end(OLD_KEY)],
    ['that other requests change each time', loggedInRecord(ada), async () => changeEachTime()],
  ])('%s moves nothing', async (_what, record, before) => {
    const { stored, move: run } = await move(record)
    await before()
    expect([await run(), await setup.stateOf(NEW_KEY), stored.key]).toEqual(['nothing', 'none', undefined])
  })

  test('ends if a logout comes before its entries', async () => {
    const { stored, move: run } = await move(loggedInRecord(ada))
    setup.meanwhile(logOut)
    expect([await run(), await setup.stateOf(NEW_KEY), stored.key]).toEqual(['nothing', 'ended', undefined])
    expect(await setup.listed()).toEqual([[], []])
  })

  test('stays if Redis does not end the old one', async () => {
    const { stored, move: run } = await move(loggedInRecord(ada))
    setup.fail({ text: 'moved', only: 'compareAndSet' })
    expect([await run(), await setup.stateOf(OLD_KEY), stored.key]).toEqual(['unavailable', 'live', OLD_KEY])
  })

  test('is unavailable if Redis does not write the new one', async () => {
    const { stored, move: run } = await move(loggedInRecord(ada))
    setup.fail({ text: NEW_KEY, only: 'compareAndSet' })
    expect([await run(), stored.key]).toEqual(['unavailable', NEW_KEY])
  })
})

describe('a session whose SSO session is over', () => {
  const unavailable = { record: undefined, degraded: 'store_unavailable' }
  const records = [
    ['an anonymous one', anonRecord, 'null,0'],
    ['a login', loggedInRecord, 'ended'],
  ] as const

  test('loses its record alone if it is anonymous', async () => {
    const context = await setup.request(anonRecord({ sidHash }))
    expect(await endWithSsoSession(context, sidHash)).toBe('again')
    expect([await setup.stateOf(OLD_KEY), context.stored.key, setup.emptied]).toEqual(['none', OLD_KEY, []])
  })

  test('ends if it is a login, and leaves its indexes', async () => {
    const context = await setup.request(loggedInRecord(ada))
    expect(await endWithSsoSession(context, sidHash)).toBe('again')
    expect([await setup.stateOf(OLD_KEY), await setup.listed()]).toEqual(['ended', [[], []]])
    expect([context.stored.key, setup.emptied]).toEqual([undefined, [context.req]])
  })

  test.each(records)('%s stays if it is of another SSO session by now', async (_what, record) => {
    const context = await setup.request(record({ sidHash: shortHash('another') }))
    expect(await endWithSsoSession(context, sidHash)).toBe('again')
    expect([await setup.stateOf(OLD_KEY), context.stored.key, setup.emptied]).toEqual(['live', OLD_KEY, []])
  })

  test('ends if another request has logged in with it meanwhile', async () => {
    const context = await setup.request(anonRecord({ sidHash }))
    const { raw } = await setup.read(OLD_KEY)
    await setup.records.replace(OLD_KEY, raw, serialiseRecord(loggedInRecord(ada)), 600)
    expect(await endWithSsoSession(context, sidHash)).toBe('again')
    expect([await setup.stateOf(OLD_KEY), setup.emptied]).toEqual(['ended', [context.req]])
  })

  test.each<[what: string, happen: () => unknown, state: string, times: number]>([
    ['has ended it', () => end(OLD_KEY), 'ended', 0],
    ['changes it each time', changeEachTime, 'live', 1],
  ])('stays as it is if another request %s', async (_what, happen, state, times) => {
    const context = await setup.request(loggedInRecord(ada))
    await happen()
    expect([await endWithSsoSession(context, sidHash), await setup.stateOf(OLD_KEY)]).toEqual(['again', state])
    expect([setup.emptied.length, await setup.listed()]).toEqual([times, [[OLD_KEY], [OLD_KEY]]])
  })

  test.each(records)('%s is not known to be over if Redis does not end it', async (_what, record, text) => {
    const context = await setup.request(record({ sidHash }))
    setup.fail({ text, only: 'compareAndSet' })
    expect(await endWithSsoSession(context, sidHash)).toEqual(unavailable)
    expect([await setup.stateOf(OLD_KEY), context.stored.key, setup.emptied]).toEqual(['live', OLD_KEY, []])
  })
})

describe('the session of a page', () => {
  const resolve = (context: RequestContext) => resolveUser(context, { identify: 'never' })
  const stale = (record: SsoRecord) =>
    setup.request({ ...record, checkedAt: NOW - 361, sealedSecrets: setup.records.seal({ sid: SID }) })
  const loseUser = () => jest.spyOn(setup.site, 'loadUser').mockRejectedValue(new Error('away'))

  test('ends at its absolute limit, and leaves its indexes', async () => {
    const context = await setup.request(loggedInRecord({ ...ada, since: NOW - 60_000 }))
    expect(await resolve(context)).toMatchObject({ record: undefined, degraded: undefined })
    expect([await setup.stateOf(OLD_KEY), await setup.listed()]).toEqual(['ended', [[], []]])
  })

  test.each([0, 1])('is shown if Redis fails after %d writes of its status check', async (passing) => {
    const context = await stale(loggedInRecord(ada))
    setup.fail({ text: OLD_KEY, only: 'compareAndSet', passing })
    expect(await resolve(context)).toMatchObject({ record: ada, degraded: 'store_unavailable' })
  })

  test.each<[what: string, before: () => unknown, shown: object | undefined, degraded: string | undefined]>([
    ['is written once', () => setup.fail({ text: NEW_KEY, only: 'compareAndSet', passing: 1 }), ada, undefined],
    ['is not shown if Redis fails', () => setup.fail({ text: 'moved' }), undefined, 'store_unavailable'],
    ['is pending without its user', loseUser, { pending: true }, 'user_unknown'],
  ])('that another site has logged in %s', async (_what, before, record, degraded) => {
    const context = await stale(anonRecord())
    before()
    expect(await resolve(context)).toMatchObject({ record, degraded })
  })
})

describe('a login beyond the most sessions of an account', () => {
  const keyOf = (index: number) => `session ${index}`.padEnd(43, '-')
  const of = (index: number, checkedAt: number) =>
    loggedInRecord({ ...ada, sidHash: shortHash(`sid ${index}`), checkedAt })

  /** As many sessions as there may be. The entries of the first eight expire first. Of these, the first was used least recently. */
  beforeEach(async () => {
    const { sessionIndex } = setup
    const start = sessionIndex.startNow()
    const add = (index: number) =>
      sessionIndex.add(setup.entry(keyOf(index), of(index, NOW)), index < 8 ? 300 : 6000, start)
    await Promise.all(Array.from({ length: MAX_SESSIONS }, (_, index) => add(index)))
    for (let index = 0; index < 8; index += 1) await setup.write(keyOf(index), of(index, NOW - 100 + index))
  })
  const ended = async () => {
    const states = await Promise.all(Array.from({ length: 8 }, (_, index) => setup.stateOf(keyOf(index))))
    return states.flatMap((state, index) => (state === 'ended' ? [index] : []))
  }
  const left = async () => new Set(await setup.ofAccount(ACCOUNT))
  const rewrite = async (index: number, record: SsoRecord) => {
    const { raw } = await setup.read(keyOf(index))
    await setup.records.replace(keyOf(index), raw, serialiseRecord(record), 600)
  }
  const signInOnce = async () => expect(await signIn(await setup.request(anonRecord()))).toBe('done')

  test('ends the one that was used least recently', async () => {
    await rewrite(0, of(0, NOW - 1))
    await signInOnce()
    expect(await ended()).toEqual([1])
    expect([(await left()).has(keyOf(1)), (await left()).size]).toEqual([false, MAX_SESSIONS])
  })

  test.each<[what: string, leave: (raw: string) => Promise<unknown>]>([
    ['is gone', (raw) => setup.records.drop(keyOf(5), raw)],
    ['has moved', (raw) => setup.records.writeMarker(keyOf(5), raw, 'moved', 'the next ID')],
  ])('first removes an entry whose session %s', async (_what, leave) => {
    await leave(String((await setup.read(keyOf(5))).raw))
    await signInOnce()
    expect([await ended(), (await left()).has(keyOf(5)), (await left()).size]).toEqual([[], false, MAX_SESSIONS])
  })

  test('removes an anonymous one from the index', async () => {
    await rewrite(3, anonRecord({ checkedAt: NOW - 200 }))
    await signInOnce()
    expect([await ended(), (await left()).has(keyOf(3))]).toEqual([[3], false])
  })

  test.each([
    ['one', 'session 0', [1]],
    ['all', 'session ', []],
  ])('leaves %s whose state Redis does not return', async (_what, text, others) => {
    setup.fail({ text, only: 'mget' })
    await signInOnce()
    setup.fail()
    expect(await ended()).toEqual(others)
  })

  test('leaves one that is used just then', async () => {
    const { records } = setup
    const write = records.writeMarker.bind(records)
    jest.spyOn(records, 'writeMarker').mockImplementation(async (key, raw, word, successor) => {
      if (key === keyOf(0)) await rewrite(0, of(0, NOW))
      return write(key, raw, word, successor)
    })
    await signInOnce()
    expect([await ended(), (await left()).has(keyOf(0))]).toEqual([[], true])
  })
})
