import type { FaultKind, FaultOptions } from '../../lib/emulator'
import { isSignedWith, readJwt } from '../support/oracle'
import { eventually } from '../support/wait'
import { configuration, gracesAddress } from './configuration'
import { type Answer, device, morning, token } from './platform'
import { sharedEmulator } from './shared'

/* Every fault at every operation that it is for. */

const { emulator, platform, another } = sharedEmulator()

const sso2 = ['identify', 'authenticate', 'sessionstatus', 'logout', 'logoutall'] as const
const rest = ['token', 'me', 'marketplace', 'gift', 'administrators'] as const
const all = [...sso2, ...rest]

/** A call of an operation with everything that it needs at hand. */
async function prepare(operation: (typeof all)[number]) {
  const { sid, at, visitor } = await platform.login()
  const claims = { sid, aid: 'A-ada', usr: 'ada', pwd: 'correct-horse', lks: 'anon', ...device }
  if (operation === 'identify') return { sid, call: () => visitor.send() }
  if (operation === 'token') return { sid, call: () => platform.exchangeTicket(at) }
  if (sso2.some((name) => name === operation))
    return { sid, call: () => platform.callRaw(operation, token(morning, claims)) }
  const bearer = (await platform.exchangeTicket(at)).json.access_token
  const get = (path: string) => ({ sid, call: () => platform.api('GET', path, bearer) })
  if (operation === 'me') return get('/external/api/v1/me')
  if (operation === 'marketplace') return get('/external/api/v2/marketing/marketplace/groups')
  if (operation === 'administrators') return get('/external/api/v1/admin')
  const body = { campaign_code: 'DAILY', delivery_address: gracesAddress }
  return { sid, call: () => platform.api('POST', '/external/api/v1/me/order/validate_gift_receiver', bearer, body) }
}

async function prepareWith(operation: (typeof all)[number], fault: FaultKind & { times?: number }) {
  const prepared = await prepare(operation)
  emulator.faults.add({ operation, ...fault })
  return prepared
}

/** Claims of the token in an answer, wherever it is. */
const claimsOf = (answer: Answer) => readJwt(tokenOf(answer)).claims

function tokenOf({ headers: { location }, body }: Answer): string {
  return location === undefined ? JSON.parse(body).t : (new URL(location).searchParams.get('t') ?? '')
}

const hasMovedOrEnded = { code: 'ECONNRESET' }

describe.each(all)('%s', (operation) => {
  test('down: the connection ends without an answer, once, and nothing is done', async () => {
    const { call } = await prepareWith(operation, { kind: 'down', times: 1 })
    await expect(call()).rejects.toMatchObject(hasMovedOrEnded)
    expect((await call()).status).toBeLessThan(400)
    expect(emulator.faults.list()).toEqual([])
  })

  test('status: the HTTP status, and Retry-After if it is given, until it is cleared', async () => {
    const { call } = await prepareWith(operation, { kind: 'status', code: 503, retryAfter: 7 })
    const answers = [await call(), await call()].map(({ status, headers }) => [status, headers['retry-after']])
    expect(answers).toEqual([
      [503, '7'],
      [503, '7'],
    ])
    emulator.faults.clear()
    expect((await call()).status).toBeLessThan(400)
  })

  test('slow: the answer comes later', async () => {
    const { call } = await prepareWith(operation, { kind: 'slow', ms: 60 })
    const start = performance.now()
    expect((await call()).status).toBeLessThan(400)
    expect(performance.now() - start).toBeGreaterThanOrEqual(55)
  })

  test('garbage: the response cannot be read', async () => {
    const { call } = await prepareWith(operation, { kind: 'garbage' })
    const answer = await call()
    if (operation === 'identify') expect(() => claimsOf(answer)).toThrow()
    else expect([answer.status, answer.json]).toEqual([200, undefined])
  })

  test.each([
    ['empty', undefined, '0'],
    ['null', null, '4'],
  ] as const)('%s: the body is %j', async (kind, json, length) => {
    const answer = await (await prepareWith(operation, { kind, times: 1 })).call()
    expect([answer.status, answer.json, answer.headers['content-length']]).toEqual([200, json, length])
    expect(emulator.calls({ operation }).at(-1)).toMatchObject({ outcome: kind, fault: kind })
  })

  test('drop_after_commit: the work is done, the answer is lost', async () => {
    const { call } = await prepareWith(operation, { kind: 'drop_after_commit' })
    await expect(call()).rejects.toMatchObject(hasMovedOrEnded)
    expect(emulator.calls({ operation }).at(-1)).toMatchObject({ outcome: 'no_answer', fault: 'drop_after_commit' })
  })

  test('a fault for one session leaves the others alone', async () => {
    if (operation === 'logoutall') return
    const [hit, spared] = [await prepare(operation), await prepare(operation)]
    emulator.faults.add({ operation, kind: 'status', code: 500, sid: hit.sid })
    expect((await spared.call()).status).toBeLessThan(400)
    const { status, headers } = await hit.call()
    expect([status, headers['retry-after']]).toEqual([500, undefined])
  })
})

describe.each(sso2)('%s', (operation) => {
  test('wrong_signature', async () => {
    const { call } = await prepareWith(operation, { kind: 'wrong_signature' })
    expect(isSignedWith(tokenOf(await call()), morning.secret)).toBe(false)
  })

  test.each([
    ['expired', { kind: 'expired' }, (exp: number, now: number) => exp < now - 60],
    ['skew ahead', { kind: 'skew', seconds: 34 }, (exp: number, now: number) => exp > now + 40],
    ['skew behind', { kind: 'skew', seconds: -34 }, (exp: number, now: number) => exp < now - 20],
  ] as const)('%s', async (_name, fault, holds) => {
    const { call } = await prepareWith(operation, fault)
    const { exp, iat, nbf } = claimsOf(await call())
    expect(holds(Number(exp), Date.now() / 1000)).toBe(true)
    expect([nbf, Number(exp) - Number(iat)]).toEqual([iat, 10])
  })

  test('wrong_session, or another account at Logout all', async () => {
    const { sid, call } = await prepareWith(operation, { kind: 'wrong_session' })
    const claims = claimsOf(await call())
    const [name, own] = operation === 'logoutall' ? ['aid', 'A-ada'] : ['sid', sid]
    expect(claims[name]).toEqual(expect.any(String))
    expect(claims[name]).not.toBe(own)
  })

  test('wrong_audience', async () => {
    const { call } = await prepareWith(operation, { kind: 'wrong_audience' })
    expect(claimsOf(await call())['aud']).not.toBe(morning.clientId)
  })

  test.each([
    ['account_frozen', 43_200, -1],
    ['invalid_credentials', -1, 4],
  ] as const)('error: %s, properly signed, and nothing is done', async (code, frf, raa) => {
    const { sid, call } = await prepareWith(operation, { kind: 'error', code })
    const answer = await call()
    expect(isSignedWith(tokenOf(answer), morning.secret)).toBe(true)
    expect(claimsOf(answer)).toMatchObject({ err: code, at: null, ...(operation === 'authenticate' && { frf, raa }) })
    expect(emulator.sessions()).toEqual([expect.objectContaining({ sid, status: 'loggedin' })])
  })
})

test('huge: a body of 20 MB', async () => {
  const { status, json, headers } = await (await prepareWith('me', { kind: 'huge' })).call()
  expect([status, json, headers['content-length']]).toEqual([200, undefined, '20000000'])
})

test.each(['hang', 'drip'] as const)('%s: no answer, or no end of it, until the emulator is closed', async (kind) => {
  const { made: other, there } = await another(configuration)
  const call = there.browser().send()
  other.faults.add({ operation: 'identify', kind })
  await eventually(async () => other.calls({ operation: 'identify' }).length > 0)
  const first = await Promise.race([
    call.catch((error) => error),
    new Promise((resolve) => setTimeout(resolve, 80, 'waiting')),
  ])
  expect(first).toBe('waiting')
  await other.close()
  await expect(call).rejects.toMatchObject(hasMovedOrEnded)
})

test('an operation that is down or hangs answers no other method either', async () => {
  const { made: other, there } = await another(configuration)
  other.faults.add({ operation: 'logout', kind: 'down' })
  await expect(there.request('GET', '/sso/logout')).rejects.toMatchObject(hasMovedOrEnded)
  other.faults.clear()
  other.faults.add({ operation: 'logout', kind: 'hang' })
  const call = there.request('GET', '/sso/logout')
  const first = await Promise.race([call, new Promise((resolve) => setTimeout(resolve, 80, 'waiting'))])
  expect(first).toBe('waiting')
  await other.close()
  await expect(call).rejects.toMatchObject(hasMovedOrEnded)
})

test('a status may be a redirect, and Retry-After a date', async () => {
  const redirect = await (
    await prepareWith('token', { kind: 'status', code: 302, retryAfter: 'date', times: 1 })
  ).call()
  expect([redirect.status, redirect.headers.location]).toEqual([302, '/'])
  expect(Date.parse(redirect.headers['retry-after'] ?? '') - Date.now()).toBeLessThan(2000)
})

const nonsense: [what: string, fault: object][] = [
  ['an unknown kind', { operation: 'identify', kind: 'tired' }],
  ['an unknown operation', { operation: 'teleport', kind: 'down' }],
  ['a clock that is off by nothing', { operation: 'identify', kind: 'skew', seconds: 0 }],
  ['slow without ms', { operation: 'identify', kind: 'slow' }],
  ['status of a success', { operation: 'identify', kind: 'status', code: 200 }],
  ['error with a code that is not documented', { operation: 'identify', kind: 'error', code: 'tired' }],
  ['wrong_signature where nothing is signed', { operation: 'me', kind: 'wrong_signature' }],
  ['error where there is no Session Token', { operation: 'token', kind: 'error', code: 'invalid_token' }],
  ['a session at Logout all', { operation: 'logoutall', kind: 'down', sid: 'x' }],
  ['a member that the kind does not have', { operation: 'identify', kind: 'down', ms: 5 }],
]

test.each(nonsense)('refused: %s', async (_what, fault) => {
  const { status, json } = await platform.control('POST', '/faults', fault)
  expect([status, json.error.code]).toEqual([400, 'bad_request'])
  expect(() => emulator.faults.add(fault as FaultOptions)).toThrow(/problem/)
  expect(emulator.faults.list()).toEqual([])
})

test('over HTTP: add, list, switch one off, switch all off', async () => {
  const added = await platform.control('POST', '/faults', {
    operation: 'identify',
    kind: 'status',
    code: 503,
    times: 3,
  })
  expect([added.status, added.json]).toEqual([
    201,
    { id: expect.any(String), operation: 'identify', kind: 'status', code: 503, times: 3 },
  ])
  await platform.control('POST', '/faults', { operation: 'me', kind: 'down' })
  expect((await platform.control('GET', '/faults')).json.faults).toHaveLength(2)
  expect((await platform.control('DELETE', `/faults/${added.json.id}`)).json).toEqual({ cleared: true })
  expect((await platform.control('DELETE', `/faults/${added.json.id}`)).status).toBe(404)
  expect((await platform.control('DELETE', '/faults')).json).toEqual({ cleared: true })
  expect(emulator.faults.list()).toEqual([])
})
