import { inspect } from 'node:util'
import { AccessTokenExpiredError, type AccessTokenSource, PlatformApi, Sso2UnavailableError } from '../../lib'
import { type Behaviour, failure, json, outcomeOf, useFaultyServer } from '../support/faulty-server'
import { badFilters, badPaths, badReceivers } from './bad-arguments'
import { fakeClock } from './fake-clock'

const scope = '/external/marketing/r'
const server = useFaultyServer()
let api: PlatformApi

beforeAll(() => {
  api = new PlatformApi({ apiUrl: server.url, accessToken: 'token-of-the-test' })
})
afterEach(() => {
  jest.useRealTimers()
  jest.restoreAllMocks()
})

const good: Behaviour = (res) => json(res, 200, { items: [] })
const apiWith = (accessToken: AccessTokenSource) => new PlatformApi({ apiUrl: server.url, accessToken })
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** How long calls are meant to wait, in milliseconds: a busy machine makes any wait longer. */
function watchSleeps(): () => number[] {
  const timers = jest.requireActual<typeof import('node:timers/promises')>('node:timers/promises')
  const sleep = jest.spyOn(timers, 'setTimeout')
  return () => sleep.mock.calls.map(([ms]) => Number(ms))
}

/** Counts turns of the event loop, of which a process that stands still has none. */
function countTurns(): { stop(): number } {
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  const stop = () => {
    clearImmediate(next)
    return turns
  }
  return { stop }
}

async function refusedArgument(call: Promise<unknown>, operation: string, named: string): Promise<void> {
  const error = await failure(call)
  expect(error).toMatchObject({ name: 'TypeError', message: expect.stringContaining(named) })
  expect(error).toMatchObject({ message: expect.stringMatching(new RegExp(`^${operation}: `)) })
  expect(server.seen).toHaveLength(0)
}

describe('bad arguments are a TypeError that names the field, and nothing is sent', () => {
  beforeEach(() => server.become(good))

  test.each(badReceivers)('validateGiftReceiver %#: %p names %p', async (receiver, named) => {
    await refusedArgument(api.validateGiftReceiver(receiver as never), 'validateGiftReceiver', named)
  })
  test.each(badFilters)('administrators %#: %p names %p', async (filter, named) => {
    await refusedArgument(api.administrators(filter as never), 'administrators', named)
  })
  test.each(badPaths)('get %#: %p', async (path) => {
    await refusedArgument(api.get(path as never), 'get', 'path must begin')
  })
  test.each([null, 5, 'soon'])('options %p', async (options) => {
    await refusedArgument(api.marketplaceGroups(options as never), 'marketplaceGroups', 'options must be')
  })
  test.each([1, 600_000])('a timeoutMs of %i is none', async (timeoutMs) => {
    const error = await api.marketplaceGroups({ timeoutMs }).catch((thrown: unknown) => thrown)
    if (!Array.isArray(error)) expect(error).toMatchObject({ name: 'Sso2UnavailableError', timedOut: true })
  })
})

test.each(['/', '/me', '//other.example/me', '/@other.example/'])('get(%p) stays at its host', async (path) => {
  server.become((res) => json(res, 200, { fine: true }))
  expect(await api.get(path)).toEqual({ fine: true })
  expect(server.seen).toMatchObject([{ url: path, headers: { authorization: 'Bearer token-of-the-test' } }])
})

describe('the body decides, not the content type', () => {
  test.each([
    ['a page that says that it is JSON', 'application/json', '<html></html>'],
    ['nothing that says that it is JSON', 'application/json', ''],
    ['JSON of another shape', 'application/json', '[]'],
  ])('%s is no answer', async (_what, type, body) => {
    server.become((res) => res.writeHead(200, { 'content-type': type }).end(body))
    const fields = { name: 'Sso2ResponseError', operation: 'marketplaceGroups', httpStatus: 200 }
    expect(await failure(api.marketplaceGroups())).toMatchObject(fields)
    expect(server.seen).toHaveLength(1)
  })

  test('of the wrong shape as a whole, and an answer of get, is named as such', async () => {
    server.become((res) => res.end('[]'))
    expect(await failure(api.administrators())).toMatchObject({
      message: expect.stringMatching(/^administrators: body: .*expected object.* \(HTTP 200\)$/),
    })
    expect(await failure(api.get('/me'))).toMatchObject({ message: expect.stringMatching(/^get: body: /) })
    server.become((res) => json(res, 404, {}))
    expect(await failure(api.get('/me'))).toMatchObject({ operation: 'get', httpStatus: 404, scope: undefined })
  })

  test('JSON without a content type is read', async () => {
    server.become((res) => res.end('{"items":[]}'))
    expect(await api.marketplaceGroups()).toEqual([])
  })

  test('a page as an error is kept as the beginning of its text', async () => {
    server.become((res) =>
      res.writeHead(403, { 'content-type': 'text/html' }).end(`<p>token-of-the-test${'x'.repeat(900)}`),
    )
    const error = await failure(api.marketplaceGroups())
    expect(error).toMatchObject({ httpStatus: 403, scope, body: expect.stringMatching(/^<p>\*\*\*x{1,500}$/) })
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('token-of-the-test')
  })
})

describe('waiting and aborting', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  /** Another suite's timer may run out meanwhile; those of a call last longer than this waits. */
  const noMoreTimersThan = async (before: number) => {
    for (let tries = 0; timers() > before && tries < 10; tries += 1) await wait(10)
    expect(timers()).toBeLessThanOrEqual(before)
  }

  test('a 429 with Retry-After 1 is waited for and asked once more', async () => {
    server.become((res, seen, count) =>
      count === 1 ? json(res, 429, {}, { 'retry-after': '1' }) : good(res, seen, count),
    )
    const sleeps = watchSleeps()
    const start = performance.now()
    expect(await api.marketplaceGroups()).toEqual([])
    expect(performance.now() - start).toBeGreaterThanOrEqual(990)
    expect(sleeps().slice(1)).toEqual([1000]) // the first is the bound on fetching the token
    expect(server.seen).toHaveLength(2)
  })

  test.each([
    ['beyond the bound of the call', '2', 1900],
    ['of more than two seconds, however long the call may take,', '3', 20_000],
  ])('a wait %s is not begun', async (_what, seconds, timeoutMs) => {
    server.become((res) => json(res, 429, {}, { 'retry-after': seconds }))
    const sleeps = watchSleeps()
    expect(await failure(api.marketplaceGroups({ timeoutMs }))).toMatchObject({ httpStatus: 429, scope })
    expect(sleeps().slice(1)).toEqual([])
    expect(server.seen).toHaveLength(1)
  })

  describe('the wait after a lost connection', () => {
    const cutFirst: Behaviour = (res, seen, count) => (count === 1 ? res.destroy() : good(res, seen, count))

    test.each([
      [0, 45, 190],
      [0.999, 190, 600],
    ])('is of 50 to 200 ms, by chance: %d', async (chance, least, most) => {
      server.become(cutFirst)
      jest.spyOn(Math, 'random').mockReturnValue(chance)
      const sleeps = watchSleeps()
      const start = performance.now()
      expect(await api.marketplaceGroups()).toEqual([])
      expect(performance.now() - start).toBeGreaterThanOrEqual(least)
      expect(sleeps().filter((ms) => ms >= least && ms < most)).toHaveLength(1)
    })

    test('is not begun where it would go beyond the bound', async () => {
      server.become(cutFirst)
      jest.spyOn(Math, 'random').mockReturnValue(20) // a wait of 3 s, so that the bound leaves time for the answer
      expect(await failure(api.marketplaceGroups({ timeoutMs: 2000 }))).toMatchObject({
        name: 'Sso2UnavailableError',
        timedOut: false,
      })
      expect(server.seen).toHaveLength(1)
    })
  })

  test.each<[string, number, Behaviour]>([
    ['the wait after a 503', 25, (res) => json(res, 503, {})],
    ['the wait after a 429', 100, (res) => json(res, 429, {}, { 'retry-after': '2' })],
    ['the wait after a cut connection', 25, (res) => res.destroy()],
    ['an answer that does not come', 50, () => {}],
    ['half a body', 50, (res) => void res.writeHead(200).write('{"items"')],
  ])('an abort during %s rejects at once with its reason and leaves no timer and no request', async (...row) => {
    const [, ms, behave] = row
    const before = timers()
    const control = new AbortController()
    const reason = new Error('enough')
    let turns: ReturnType<typeof countTurns> | undefined
    const abort = () => {
      turns = countTurns()
      control.abort(reason)
    }
    server.become((res, seen, count) => {
      behave(res, seen, count)
      if (count === 1) setTimeout(abort, ms)
    })
    expect(await failure(api.marketplaceGroups({ signal: control.signal }))).toBe(reason)
    expect(turns?.stop()).toBeLessThan(20)
    await noMoreTimersThan(before)
    await wait(250)
    expect(server.seen).toHaveLength(1)
  })

  test('an abort while the token is fetched rejects with its reason, sends nothing and leaves no timer', async () => {
    server.become(good)
    const before = timers()
    const reason = new Error('enough')
    const control = new AbortController()
    const source = jest.fn(() => new Promise<never>(() => {}))
    const call = failure(apiWith(source).marketplaceGroups({ signal: control.signal }))
    setImmediate(() => control.abort(reason))
    expect(await call).toBe(reason)
    await noMoreTimersThan(before)
    expect(await failure(apiWith(source).marketplaceGroups({ signal: control.signal }))).toBe(reason)
    expect([source.mock.calls.length, server.seen.length]).toEqual([1, 0])
  })

  test('a call that succeeds leaves no timer', async () => {
    server.become(good)
    const before = timers()
    const options = () => ({ timeoutMs: 60_000, signal: new AbortController().signal })
    await Promise.all(Array.from({ length: 20 }, () => api.marketplaceGroups(options())))
    await noMoreTimersThan(before + 5)
  })
})

describe('a source of tokens', () => {
  /** Answers 401 to every token but the good one, and repeats what it was sent. */
  const onlyFor =
    (token: string): Behaviour =>
    (res, seen, count) =>
      seen.headers.authorization === `Bearer ${token}`
        ? good(res, seen, count)
        : json(res, 401, { said: seen.headers.authorization })

  /** A source that gives one token after the other, and what it was told. */
  function source(...tokens: (string | undefined)[]) {
    const told: unknown[][] = []
    const client = apiWith(async (...args) => {
      told.push(args)
      return tokens[told.length - 1]
    })
    return { told, client }
  }

  test.each<[when: string, tokens: (string | undefined)[], error: object, told: unknown[][]]>([
    ['at first', [undefined], { code: 'ERR_SSO2_ACCESS_TOKEN', operation: 'marketplaceGroups' }, [[]]],
    ['after a 401', ['first-token', undefined], { body: { said: 'Bearer ***' } }, [[], ['first-token']]],
  ])('that gives none %s is an expired token', async (_when, tokens, fields, expected) => {
    server.become(onlyFor('another-token'))
    const { told, client } = source(...tokens)
    const error = await failure(client.marketplaceGroups())
    expect(error).toBeInstanceOf(AccessTokenExpiredError)
    expect(error).toMatchObject({ httpStatus: 401, scope, ...fields })
    expect(inspect(error, { depth: 20, showHidden: true })).not.toContain('first-token')
    expect([told, server.seen.length]).toEqual([expected, tokens.length - 1])
  })

  test('is told the refused token, and what it gives then is used', async () => {
    server.become(onlyFor('second-token'))
    const { told, client } = source('first-token', 'second-token')
    expect(await client.marketplaceGroups()).toEqual([])
    expect(told).toEqual([[], ['first-token']])
    const sent = server.seen.map(({ headers }) => headers.authorization)
    expect(sent).toEqual(['Bearer first-token', 'Bearer second-token'])
  })

  test('is asked for another token once only; the second 401 stands', async () => {
    server.become(onlyFor('third-token'))
    const { told, client } = source('first-token', 'second-token', 'third-token')
    const error = await failure(client.marketplaceGroups())
    expect(error).not.toBeInstanceOf(AccessTokenExpiredError)
    expect(error).toMatchObject({ name: 'PlatformApiError', code: 'ERR_SSO2_PLATFORM_API', httpStatus: 401, scope })
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/first-token|second-token/)
    expect([told.length, server.seen.length]).toEqual([2, 2])
  })

  test('that fails, fails the call with its own error', async () => {
    server.become(good)
    const reason = new Error('the vault is shut')
    expect(await failure(apiWith(() => Promise.reject(reason)).marketplaceGroups())).toBe(reason)
    expect(server.seen).toHaveLength(0)
  })

  test('that never answers ends at timeoutMs, nothing sent', async () => {
    server.become(good)
    const error = await failure(apiWith(() => new Promise(() => {})).marketplaceGroups({ timeoutMs: 60 }))
    const message = 'marketplaceGroups: no access token in time'
    expect(error).toBeInstanceOf(Sso2UnavailableError)
    expect(error).toMatchObject({ timedOut: true, retryable: false, message })
    expect(server.seen).toHaveLength(0)
  })

  test('counts within the bound of the call', async () => {
    const { pass, expectSilence } = fakeClock()
    expectSilence()
    server.become(() => {})
    const slow = apiWith(async () => {
      await wait(1500)
      return 'first-token'
    })
    const outcome = outcomeOf(slow.marketplaceGroups({ timeoutMs: 3000 }))
    await pass(2950)
    expect([outcome(), server.seen.length]).toEqual([undefined, 1])
    await pass(100)
    expect(outcome()).toMatchObject({ timedOut: true })
    expect(server.seen).toHaveLength(1)
  })
})
