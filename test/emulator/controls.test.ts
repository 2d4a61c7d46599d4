import supertest from 'supertest'
import { createEmulator, type Emulator, type EmulatorOptions } from '../../lib/emulator'
import { CallLog } from '../../lib/emulator/platform/calls'
import { TraceLog } from '../../lib/emulator/platform/traces'
import { readJwt } from '../support/oracle'
import { configuration } from './configuration'
import { device, morning, token } from './platform'
import { sharedEmulator } from './shared'

/* The controls, in code and over HTTP; the clock; the log; what is kept and what is not. */

const { emulator, platform, another } = sharedEmulator()

/** The emulator's clock is ahead by so many milliseconds, read between two looks at the system's. */
function expectAhead(ms: number): void {
  const before = Date.now()
  const now = emulator.clock.now()
  const after = Date.now()
  expect(now).toBeGreaterThan(before + ms - 50)
  expect(now).toBeLessThan(after + ms + 50)
}

describe('sessions', () => {
  test('are listed with state, account and times in seconds', async () => {
    const { sid } = await platform.login()
    const view = {
      sid,
      status: 'loggedin',
      accountId: 'A-ada',
      createdAt: expect.any(Number),
      lastSeenAt: expect.any(Number),
    }
    expect(emulator.sessions()).toEqual([view])
    expect((await platform.control('GET', '/sessions')).json).toEqual({ sessions: [view] })
    expect(Math.abs((emulator.sessions()[0]?.createdAt ?? 0) - Date.now() / 1000)).toBeLessThan(5)
  })

  test('prune', async () => {
    const [a, b] = [await platform.login(), await platform.login()]
    expect([emulator.prune(a.sid), emulator.prune(a.sid)]).toEqual([true, false])
    expect((await platform.control('DELETE', `/sessions/${b.sid}`)).json).toEqual({ pruned: true })
    expect((await platform.control('DELETE', `/sessions/${b.sid}`)).json.error.code).toBe('session_not_found')
    expect((await platform.control('DELETE', '/sessions/%E9')).json.error.code).toBe('bad_request')
    expect(emulator.sessions()).toEqual([])
  })

  test('terminate', async () => {
    const [a, b] = [await platform.login(), await platform.browser().identify()]
    expect([emulator.terminate(a.sid), emulator.terminate('made-up')]).toEqual([true, false])
    expect((await platform.control('POST', `/sessions/${b.sid}/terminate`, {})).status).toBe(200)
    expect((await platform.control('POST', '/sessions/made-up/terminate', {})).status).toBe(404)
    expect(emulator.sessions().map(({ status }) => status)).toEqual(['terminated', 'terminated'])
  })
})

describe('accounts', () => {
  test('are set, frozen and unfrozen in code', async () => {
    const { sid } = await platform.browser().identify()
    expect(emulator.account('ada').set({ active: false })).toMatchObject({ username: 'ada', active: false })
    expect(await platform.authenticate(sid)).toMatchObject({ err: 'account_not_active' })
    emulator.account('ada').set({ active: true, password: 'new-horse' })
    expect(await platform.authenticate(sid)).toMatchObject({ err: 'invalid_credentials' })
    expect(emulator.account('ada').freeze().frozenUntil).toBeGreaterThan(emulator.clock.now() / 1000)
    expect(await platform.authenticate(sid, { pwd: 'new-horse' })).toMatchObject({ err: 'account_frozen' })
    expect(emulator.account('ada').unfreeze()).toMatchObject({ frozenUntil: null, failedAttempts: 0 })
    expect(await platform.authenticate(sid, { pwd: 'new-horse' })).toMatchObject({ sts: 'loggedin' })
    expect(emulator.account('ada').logoutAll()).toBe(1)
    expect(await platform.status(sid)).toMatchObject({ sts: 'terminated' })
  })

  test('the same over HTTP, without a password in any answer', async () => {
    await platform.login()
    const answers = [
      await platform.control('GET', '/accounts'),
      await platform.control('PATCH', '/accounts/ada', { active: true }),
      await platform.control('POST', '/accounts/ada/freeze', {}),
      await platform.control('POST', '/accounts/ada/unfreeze', {}),
      await platform.control('POST', '/accounts/ada/logout-all', {}),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(answers.at(-1)?.json).toEqual({ ended: 1 })
    for (const { body } of answers) expect(body).not.toContain('correct-horse')
  })

  test('one that is not there is told, in code and over HTTP, and so is a client', async () => {
    expect(() => emulator.account('nobody')).toThrow(/no account with this user name/)
    const { status, json } = await platform.control('POST', '/accounts/nobody/freeze', {})
    expect([status, json.error.code]).toEqual([404, 'account_not_found'])
    expect(() => emulator.siteOptions('nobody')).toThrow(/no client nobody/)
    const { made } = await another({ ...configuration, clients: [] })
    expect(() => made.siteOptions()).toThrow(/no client that is flagged for SSO2/)
  })

  test('a one-time password comes with its end, in seconds', async () => {
    const { json } = await platform.control('POST', '/otps', { username: 'ada' })
    expect(json).toEqual({ otp: expect.stringMatching(/^\d{6}$/), expiresAt: expect.any(Number) })
    expect(Math.abs(json.expiresAt - 600 - Date.now() / 1000)).toBeLessThan(5)
    expect(emulator.issueOtp('ada')).toMatch(/^\d{6}$/)
  })
})

describe('clock', () => {
  test('now is in milliseconds, advance in seconds, and they agree in code and over HTTP', async () => {
    expectAhead(0)
    emulator.clock.advance(100)
    const { json } = await platform.advance(260)
    expect(json).toEqual({ now: expect.any(Number), aheadSeconds: 360 })
    expectAhead(360_000)
    emulator.clock.advance(9.9e9)
    expect((await platform.advance(1e9)).json.error.code).toBe('bad_request')
  })

  test.each<[{ advance?: unknown }]>([[{ advance: -1 }], [{ advance: '10' }], [{}]])(
    'does not go by %j',
    async (body) => {
      expect((await platform.control('POST', '/clock', body)).status).toBe(400)
      expect(() => emulator.clock.advance(body.advance as number)).toThrow(/not negative/)
    },
  )
})

describe('calls', () => {
  test('are logged with time, operation, claims and outcome, the password masked', async () => {
    const { sid } = await platform.login()
    expect(emulator.calls({ clientId: 'evening' })).toEqual([])
    const call = emulator.calls({ operation: 'authenticate', clientId: 'morning' })[0]
    expect(call).toMatchObject({
      at: expect.any(Number),
      operation: 'authenticate',
      clientId: 'morning',
      sid,
      claims: { cid: 'morning', sid, usr: 'ada', pwd: '***', ...device },
      outcome: 'loggedin',
    })
  })

  test('say why a token was refused', async () => {
    await platform.call('sessionstatus', { sid: 'x', lks: 'anon', aud: { other: true } })
    expect(emulator.calls().at(-1)).toMatchObject({ outcome: 'invalid_token', detail: expect.stringMatching(/^aud:/) })
    expect(emulator.calls().at(-1)?.claims['aud']).toBe('[object]')
  })

  test('the latest 10,000 are kept, for the list and for the flows', () => {
    const [calls, traces] = [new CallLog(), new TraceLog()]
    for (let at = 0; at <= 20_000; at += 1) {
      calls.add({ at, operation: 'me', clientId: null, sid: 'x', claims: {}, outcome: 'ok' })
      traces.add({ at, sid: 'x' })
    }
    for (const all of [calls.list(), traces.ofSession('x')]) expect([all.length, all[0]?.at]).toEqual([10_000, 10_001])
  })
})

/** Times are exported as ages: each second that ends between export and import makes them one less. A busy machine may need some. */
function expectSameSessions(copy: Emulator, original: Emulator): void {
  const lateness: number[] = []
  const untimed = ({ createdAt, lastSeenAt, ...session }: ReturnType<Emulator['sessions']>[number], n: number) => {
    const its = original.sessions()[n]
    lateness.push(createdAt - (its?.createdAt ?? 0), lastSeenAt - (its?.lastSeenAt ?? 0))
    return session
  }
  expect(copy.sessions().map(untimed)).toEqual(original.sessions().map(untimed))
  expect(lateness.filter((seconds) => Math.abs(seconds) > 10)).toEqual([])
}

describe('the running state', () => {
  test('is exported as options that make the same platform', async () => {
    const visitor = platform.browser()
    emulator.terminate((await visitor.identify()).sid)
    const { sid } = await platform.authenticate((await visitor.identify()).sid)
    const { sid: anon } = await platform.browser().identify()
    await platform.authenticate(anon, { usr: 'grace', pwd: 'wrong' })
    emulator.account('otto').freeze()
    emulator.account('ada').set({ password: 'new-horse' })
    emulator.faults.add({ operation: 'me', kind: 'down', times: 2 })
    emulator.clock.advance(100)

    const saved: EmulatorOptions = (await platform.control('GET', '/export')).json
    const { made: copy, there: copied } = await another(saved)
    expectSameSessions(copy, emulator)
    const there = copied.browser()
    there.cookie = visitor.cookie
    expect((await copied.request('GET', '/')).body).toContain(`href="/flows/sessions/${sid}"`)
    expect(await there.identify()).toMatchObject({ sid, sts: 'loggedin' })
    expect(await copied.authenticate(anon, { usr: 'grace', pwd: 'wrong' })).toMatchObject({ raa: 3 })
    expect(await copied.authenticate(anon, { usr: 'otto' })).toMatchObject({ err: 'account_frozen' })
    expect(await copied.authenticate(anon, { pwd: 'new-horse' })).toMatchObject({ sts: 'loggedin' })
    expect(copy.faults.list()).toMatchObject([{ operation: 'me', kind: 'down', times: 2 }])
    expect(Math.abs(copy.clock.now() - emulator.clock.now())).toBeLessThan(10_000) // a busy machine may need some between the two
  })

  test('goes back to the configuration at reset', async () => {
    const { sid, visitor } = await platform.login()
    emulator.account('ada').set({ active: false, password: 'new-horse' })
    emulator.faults.add({ operation: 'me', kind: 'down' })
    emulator.clock.advance(1000)
    expect((await platform.control('POST', '/reset', {})).json).toEqual({ reset: true })
    const kept = [emulator.sessions(), emulator.calls(), emulator.faults.list(), emulator.flow(sid).steps]
    expect(kept).toEqual([[], [], [], []])
    expectAhead(0)
    expect(await visitor.identify()).toMatchObject({ sts: 'anon' })
    await platform.login()
  })
})

describe('around it', () => {
  test('the application works without a port', async () => {
    const other = createEmulator(configuration)
    await supertest(other.app).get('/_emulator/ready').expect(200, { ready: true }).expect('x-sso2-emulator', '1')
    expect(() => other.url).toThrow(/does not listen/)
    await other.close()
  })

  test('it listens on loopback only, and says when a port is taken', async () => {
    const { port } = new URL(emulator.url)
    expect(new URL(emulator.url).hostname).toBe('127.0.0.1')
    await expect(createEmulator().listen(Number(port))).rejects.toMatchObject({ code: 'EADDRINUSE' })
  })

  test('/_emulator lists every control: as JSON for programs, as a page for people', async () => {
    const { controls } = (await platform.request('GET', '/_emulator')).json
    expect(controls).toContainEqual({
      method: 'POST',
      path: '/_emulator/clock',
      does: expect.any(String),
      body: { advance: 361 },
    })
    expect(controls.length).toBeGreaterThan(15)
    for (const { method, path: where, body } of controls) {
      const address = where.replace(':username', 'ada').replace(/:\w+/, 'made-up').replace('/_emulator', '')
      const { status } = await platform.control(method, address, method === 'GET' ? undefined : (body ?? {}))
      expect([200, 201, 404]).toContain(status)
      if (!where.includes(':')) expect([where, status]).not.toEqual([where, 404])
    }
    const page = await platform.request('GET', '/_emulator/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect(page.headers['content-type']).toContain('text/html')
    for (const { path: where } of controls) expect(page.body).toContain(`<code>${where}</code>`)
    expect(page.body).toContain('&quot;advance&quot;:361')
  })

  test.each([2, 3600])('Session Tokens that live %i s ask nothing of request tokens', async (tokenSeconds) => {
    const { there: here } = await another({ ...configuration, limits: { tokenSeconds } })
    const { sid, iat, exp } = await here.browser().identify()
    expect(Number(exp) - Number(iat)).toBe(tokenSeconds)
    expect(await here.status(sid)).toMatchObject({ err: null })
    const tooLong = token(morning, { ...device, sid, lks: 'anon', exp: Math.floor(Date.now() / 1000) + 12 })
    expect(readJwt((await here.callRaw('sessionstatus', tooLong)).json.t).claims['err']).toBe('invalid_token')
  })

  test('marketplace groups can be switched off', async () => {
    const { there: other } = await another({ ...configuration, marketplaceEnabled: false })
    const path = '/external/api/v2/marketing/marketplace/groups'
    const { status, json } = await other.api('GET', path, await other.serviceToken())
    expect([status, json.error.code]).toEqual([404, 'feature_not_enabled'])
  })

  test.each([
    ['a page of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { 'sec-fetch-site': 'same-site' }],
    ['a page of another origin', { origin: 'http://localhost:3001' }],
    ['a sandboxed page', { origin: 'null' }],
    ['a name that points to this machine', { host: 'rebound.example.com' }],
    ['a name that is none', { host: 'no name' }],
  ])('controls refuse %s', async (_who, headers: Record<string, string>) => {
    const form = { 'content-type': 'application/json', ...headers }
    const { status } = await platform.request('POST', '/_emulator/reset', form, '{}')
    expect(status).toBe(403)
    expect((await platform.request('GET', '/_emulator/export', headers)).status).toBe(403)
    expect((await platform.request('GET', '/', headers)).status).toBe(headers['host'] === undefined ? 200 : 403)
  })
})
