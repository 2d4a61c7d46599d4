import type { LoginResult } from '../../lib/decide/login'
import { type FoundForm, LEASE_SECONDS, type LoginLocks } from '../../lib/storage/login-locks'
import { runExclusive } from '../../lib/web/actions/login-single-flight'
import type { RequestContext } from '../../lib/web/request-context'
import { NOW, siteOver, stores } from '../storage/stores'

/* What the lock of a login says of itself, if its process stood still. test/safety/two-processes.test.ts kills processes. */

const refused: LoginResult = { ok: false, error: 'invalid_credentials' }

/** The process stands still for longer than its lock is valid: no timer runs. */
function standStill(): void {
  const real = performance.now.bind(performance)
  jest.spyOn(performance, 'now').mockImplementation(() => real() + (LEASE_SECONDS + 1) * 1000)
}
afterEach(() => jest.restoreAllMocks())

describe.each(stores)('in %s', (_name, open) => {
  const clock = { now: NOW }
  const kv = open(clock)
  afterAll(() => kv.close())

  /** Logs in, does something else meanwhile, and asks the lock. */
  async function isHeldAfter(
    act: (logins: LoginLocks, prefix: string) => Promise<void> | void,
  ): Promise<boolean | undefined> {
    const { logins, prefix } = siteOver(kv, clock)
    const site = { loginLocks: logins, config: { clock: { now: () => clock.now * 1000 } } }
    const context = { site } as unknown as RequestContext
    let isHeld: boolean | undefined
    await runExclusive(context, { key: 'k', digest: 'first', arrivedAt: 0 }, async (lock) => {
      await act(logins, prefix)
      isHeld = await lock.isHeld()
      return refused
    })
    return isHeld
  }

  test('a young lock is held', async () => {
    expect(await isHeldAfter(() => {})).toBe(true)
  })

  test('a process that stood still keeps the lock, if no other submit has taken over', async () => {
    expect(await isHeldAfter(standStill)).toBe(true)
  })

  test('another submit does not take over a lock that was renewed after the submit had read it', async () => {
    let [isHeld, rival]: [boolean?, object?] = []
    const { logins, prefix } = siteOver(kv, clock)
    const site = { loginLocks: logins, config: { clock: { now: () => clock.now * 1000 } } }
    const submit = { key: 'k', digest: 'first', arrivedAt: 0 }
    await runExclusive({ site } as unknown as RequestContext, submit, async (lock) => {
      await kv.expire(`${prefix}login:{k}`, 17) // as three seconds without a renewal leave it
      const { raw, isAlive } = (await logins.findForm('k')) as FoundForm
      expect(isAlive).toBe(false)
      standStill()
      isHeld = await lock.isHeld()
      rival = (await logins.beginForm('k', raw, 'first')) as object
      return refused
    })
    expect(isHeld).toBe(true)
    expect(rival).toMatchObject({ isAlive: true })
  })

  test('another submit has taken over', async () => {
    const isHeld = await isHeldAfter(async (logins, prefix) => {
      await kv.expire(`${prefix}login:{k}`, 17)
      const { raw } = (await logins.findForm('k')) as FoundForm
      expect(await logins.beginForm('k', raw, 'second')).toHaveProperty('held')
      standStill()
    })
    expect(isHeld).toBe(false)
  })
})
