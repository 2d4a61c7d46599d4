import type { LoginResult } from '../../lib/decide/login'
import { type FoundForm, LEASE_SECONDS } from '../../lib/storage/login-locks'
import { type LoginLock, runExclusive } from '../../lib/web/actions/login-single-flight'
import type { RequestContext } from '../../lib/web/request-context'
import { NOW, siteOver, stores } from '../storage/stores'
import { eventually } from '../support/wait'

/* What the lock of a login says of itself, if its process stood still. test/safety/two-processes.test.ts kills processes. */

const refused: LoginResult = { ok: false, error: 'invalid_credentials' }

/** The form of the login in the store, as another submit sees it. */
interface FormOfLogin {
  /** Leaves the form as three seconds without a renewal do. @returns the form that another submit then finds */
  age(): Promise<FoundForm>
  takeOver(raw: string | null, digest: string): Promise<unknown>
}

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

  /** Logs in, and does something else meanwhile. */
  async function duringLogin(act: (lock: LoginLock, form: FormOfLogin) => Promise<void>): Promise<void> {
    const { logins, prefix } = siteOver(kv, clock)
    const site = { loginLocks: logins, config: { clock: { now: () => clock.now * 1000 } } }
    const context = { site } as unknown as RequestContext
    const form: FormOfLogin = {
      age: async () => {
        let found: FoundForm
        // the login renews its form twice a second, on a busy machine in between as well
        do {
          await kv.expire(`${prefix}login:{k}`, 17)
          found = (await logins.findForm('k')) as FoundForm
        } while (found.isAlive)
        return found
      },
      takeOver: (raw, digest) => logins.beginForm('k', raw, digest),
    }
    await runExclusive(context, { key: 'k', digest: 'first', arrivedAt: 0 }, async (lock) => {
      await act(lock, form)
      return refused
    })
    expect.hasAssertions()
  }

  test('a young lock is held', async () => {
    await duringLogin(async (lock) => expect(await lock.isHeld()).toBe(true))
  })

  test('a process that stood still keeps the lock, if no other submit has taken over', async () => {
    await duringLogin(async (lock) => {
      standStill()
      expect(await lock.isHeld()).toBe(true)
    })
  })

  test('another submit does not take over a lock that was renewed after the submit had read it', async () => {
    await duringLogin(async (lock, form) => {
      const { raw } = await form.age()
      standStill()
      expect(await lock.isHeld()).toBe(true)
      expect(await form.takeOver(raw, 'first')).toMatchObject({ isAlive: true })
    })
  })

  test('another submit has taken over', async () => {
    await duringLogin(async (lock, form) => {
      const takesOver = async () => {
        const { raw } = await form.age()
        return 'held' in ((await form.takeOver(raw, 'second')) as object)
      }
      await eventually(takesOver) // unless the login has renewed its form in between
      standStill()
      expect(await lock.isHeld()).toBe(false)
    })
  })
})
