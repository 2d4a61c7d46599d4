import { randomUUID } from 'node:crypto'
import type { Entry } from '../../lib/decide/record'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { storeUnavailable } from '../../lib/storage/site-store'
import { hold } from '../support/turnstile'
import { eventually, pause } from '../support/wait'
import { atOnce, KEY, NOW, siteOver, stores, type TestSite, useStore } from './stores'

/* The locks that all processes of a site share: status checks, used landing tokens, and logins in progress. */

const LIMIT_MS = 1000
const isFinal = () => true
const isNotFinal = () => false

/** Submits a form. @returns the outcome and the result, if there is one */
const submit = <R>(
  { locks }: TestSite,
  key: string,
  form: string,
  run: (entry: Entry) => Promise<R>,
  final = isFinal,
) => locks.once(key, form, run, final)

function heldLogin() {
  const { held, pass } = hold()
  return { ...held, run: () => pass().then(() => ({ user: 'ada' })) }
}
const ran = (result: unknown) => ({ outcome: 'ran', result })
const shared = (result: unknown) => ({ outcome: 'shared', result })

describe.each(stores)('in %s', (_name, open) => {
  const store = useStore(open)
  let site: TestSite
  let key: string
  beforeEach(() => {
    site = store.site()
    key = randomUUID()
  })
  /** Another process of the same site. */
  const other = () => store.site([KEY], site.prefix)

  test('a status check is taken by one of many, who tell the others if it fails; with a new status there is another check', async () => {
    const take = (checkedAt: number) => other().locks.takeCheck(key, checkedAt, LIMIT_MS)
    expect((await atOnce(5, () => take(NOW))).toSorted()).toEqual(['ours', ...Array(4).fill('theirs')])
    await site.locks.failCheck(key, NOW, LIMIT_MS)
    expect([await take(NOW), await take(NOW + 1), await take(NOW + 1)]).toEqual(['failed', 'ours', 'theirs'])
    expect(await other().locks.takeCheck(randomUUID(), NOW, LIMIT_MS)).toBe('ours')
  })

  describe('a login', () => {
    test('[F5] runs once for all submits of its form, also for later ones', async () => {
      const login = heldLogin()
      const submits = atOnce(5, () => submit(other(), key, 'a form', login.run))
      await login.arrived
      await pause(200)
      login.open()
      const answers = await submits
      expect(answers.filter((answer) => answer?.outcome === 'ran')).toEqual([ran({ user: 'ada' })])
      expect(answers.filter((answer) => answer?.outcome === 'shared')).toEqual(Array(4).fill(shared({ user: 'ada' })))
      expect(await submit(site, key, 'a form', async () => 'not run')).toEqual(shared({ user: 'ada' }))
    })

    test('of another form waits for its turn, and gets the session as the login before has left it', async () => {
      const login = heldLogin()
      await submit(site, key, 'an earlier form', async () => 'done')
      const first = submit(site, key, 'a form', login.run)
      await login.arrived
      expect(await submit(site, key, 'an earlier form', async () => 'not run')).toEqual(shared('done'))
      const entries: Entry[] = []
      const note = async (entry: Entry) => void entries.push(entry)
      const others = atOnce(2, (index) => submit(other(), key, `another form ${index}`, note))
      await pause(200)
      expect(entries).toEqual([])
      expect(await submit(site, randomUUID(), 'a form', async () => 'of another session')).toMatchObject({
        outcome: 'ran',
      })
      await site.records.saveData(key, 'data', 60, true)
      await site.records.empty(key, 60)
      login.open()
      expect(await first).toMatchObject({ outcome: 'ran' })
      expect(await others).toMatchObject([{ outcome: 'ran' }, { outcome: 'ran' }])
      expect(entries).toEqual(Array(2).fill({ state: 'empty' }))
    })

    test('whose result was not final shares it with those who wait, and with no later submit', async () => {
      const login = heldLogin()
      const first = submit(site, key, 'a form', login.run, isNotFinal)
      await login.arrived
      const waiting = submit(other(), key, 'a form', async () => 'not run')
      await pause(200)
      login.open()
      expect([await first, await waiting]).toEqual([ran({ user: 'ada' }), shared({ user: 'ada' })])
      expect(await submit(other(), key, 'a form', async () => 'again')).toEqual(ran('again'))
    })

    test('that throws is not shared, and the next one runs at once', async () => {
      const fail = () => Promise.reject(new TypeError('broken'))
      await expect(submit(site, key, 'a form', fail)).rejects.toThrow('broken')
      expect(await submit(other(), key, 'a form', async () => 'again')).toEqual(ran('again'))
    })

    test('leaves nothing of its credentials or of its result readable in the store', async () => {
      await submit(site, key, 'the-digest-of-a-password', async () => 'the-session-id')
      const value = String(await store.kv().get(`${site.prefix}result:{${key}}`))
      expect(value).not.toMatch(/null|the-digest-of-a-password|the-session-id/)
    })
  })
})

describe('by a clock that the test turns', () => {
  let now: number
  let kv: MemoryKv
  let site: TestSite
  beforeEach(() => {
    now = 0
    kv = new MemoryKv(() => now)
    site = siteOver(kv)
  })
  afterEach(() => jest.restoreAllMocks())

  test.each([
    [1000, 4000],
    [3000, 5000],
  ])('a status check with a limit of %i ms lasts %i ms, and so does the pause after its failure', async (limit, ms) => {
    const take = () => site.locks.takeCheck('key', NOW, limit)
    await take()
    now += ms - 1
    expect(await take()).toBe('theirs')
    now += 1
    expect(await take()).toBe('ours')
    await site.locks.failCheck('key', NOW, limit)
    now += ms - 1
    expect(await take()).toBe('failed')
    now += 1
    expect(await take()).toBe('ours')
  })

  test('a landing token is remembered for 150 s, which is longer than it is valid', async () => {
    const use = () => site.locks.useToken(Buffer.from('a signature'))
    await use()
    now += 149_999
    expect(await use()).toBe(false)
    now += 1
    expect(await use()).toBe(true)
  })

  test('later submits of a form get its result for 5 s', async () => {
    const login = async () => ({ at: now })
    await submit(site, 'key', 'a form', login)
    now += 4999
    expect(await submit(site, 'key', 'a form', login)).toEqual(shared({ at: 0 }))
    now += 1
    expect(await submit(site, 'key', 'a form', login)).toEqual(ran({ at: 5000 }))
  })

  test('the process of a login dies → its form is submitted again by those who wait, 20 s after it began', async () => {
    const dead = heldLogin()
    void submit(site, 'key', 'a form', dead.run)
    await dead.arrived
    const answered = jest.fn()
    void submit(site, 'key', 'a form', async () => 'again').then(answered)
    now += 19_999
    await pause(700) // longer than one pause of those who wait
    expect(answered).not.toHaveBeenCalled()
    now += 1
    await eventually(async () => answered.mock.calls.length > 0)
    expect(answered).toHaveBeenCalledWith(ran('again'))
  })

  test('the process of a login stands still for longer than its lock → the login after it keeps lock and result', async () => {
    const [late, next, again] = [heldLogin(), heldLogin(), jest.fn()]
    const first = submit(site, 'key', 'a form', late.run)
    await late.arrived
    const later = performance.now() + 21_000
    now += 20_000
    jest.spyOn(performance, 'now').mockImplementation(() => later)
    const second = submit(site, 'key', 'another form', next.run)
    await next.arrived
    late.open()
    await first
    const third = submit(site, 'key', 'another form', again)
    await pause(200)
    next.open()
    expect([await second, await third]).toEqual([ran({ user: 'ada' }), shared({ user: 'ada' })])
    expect(again).not.toHaveBeenCalled()
  })

  test('other logins of the session take 20 s, one after the other → a form that waits is not submitted', async () => {
    const login = heldLogin()
    void submit(site, 'key', 'another form', login.run) // the store's clock stands still, as if each of them began just now
    await login.arrived
    let waited = 0
    const begin = performance.now()
    jest.spyOn(performance, 'now').mockImplementation(() => begin + waited)
    const [isOver, run] = [jest.fn(), jest.fn()]
    const answer = submit(site, 'key', 'a form', run).finally(isOver)
    waited = 20_000
    await pause(200)
    expect(isOver).not.toHaveBeenCalled()
    waited = 21_000
    expect(await answer).toBeUndefined()
    expect(run).not.toHaveBeenCalled()
  })

  test('Redis fails after a login → it is valid all the same, and the next one waits for the end of its lock', async () => {
    jest.spyOn(kv, 'set').mockRejectedValue(storeUnavailable())
    jest.spyOn(kv, 'del').mockRejectedValue(storeUnavailable())
    expect(await submit(site, 'key', 'a form', async () => 'done')).toEqual(ran('done'))
    now += 20_000
    expect(await submit(site, 'key', 'a form', async () => 'next')).toEqual(ran('next'))
  })
})
