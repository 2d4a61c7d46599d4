import { evening, type Platform } from '../platform'
import { type Check, requirementsOf } from './check'

const error = requirementsOf('SSO2 errors')
const limit = requirementsOf('Limits')

async function wrongPasswords(platform: Platform, sid: string, count: number, usr = 'ada'): Promise<unknown[]> {
  const answers = []
  for (let n = 0; n < count; n += 1) answers.push(await platform.authenticate(sid, { usr, pwd: `wrong ${n}` }))
  return answers.map(({ err, raa, frf }) => [err, raa, frf])
}

async function otpFor(platform: Platform, username = 'ada'): Promise<string> {
  return (await platform.control('POST', '/otps', { username })).json.otp
}

const sessions: Check[] = [
  ...(['authenticate', 'sessionstatus', 'logout'] as const).map((operation) =>
    error(`session_not_found: ${operation} of an unknown session`, async (platform) => {
      const claims = { sid: 'made-up', usr: 'ada', pwd: 'correct-horse', lks: 'anon' }
      const answer = await platform.call(operation, claims)
      expect(answer).toMatchObject({ sid: 'made-up', sts: 'terminated', at: null, err: 'session_not_found' })
    }),
  ),
  error.loggedIn('session_terminated: Authenticate in a session that has ended', async (platform, { sid }) => {
    await platform.logout(sid)
    const answer = await platform.authenticate(sid)
    expect(answer).toMatchObject({ sid, sts: 'terminated', at: null, err: 'session_terminated' })
    expect(await platform.status(sid)).toMatchObject({ sts: 'terminated' })
  }),
  error.loggedIn('session_already_logged_in_on_another_account: the first one stays', async (platform, { sid }) => {
    const answer = await platform.authenticate(sid, { usr: 'grace', pwd: 'battery-staple' })
    expect(answer).toMatchObject({ sts: 'loggedin', at: null, err: 'session_already_logged_in_on_another_account' })
    const { at } = await platform.status(sid)
    const bearer = (await platform.exchangeTicket(at)).json.access_token
    expect((await platform.api('GET', '/external/api/v1/me', bearer)).json.item.username).toBe('ada')
  }),
  error('session_limit_reached: the sixth session of an account, but not one of another account', async (platform) => {
    for (let n = 0; n < 5; n += 1) await platform.login()
    const { sid } = await platform.browser().identify()
    expect(await platform.authenticate(sid)).toMatchObject({ sts: 'anon', at: null, err: 'session_limit_reached' })
    expect(await platform.status(sid)).toMatchObject({ sts: 'anon' })
    await platform.login({ usr: 'grace', pwd: 'battery-staple' })
  }),
  error.loggedIn(
    'session_limit_reached: not for Authenticate again in a session that counts already',
    async (platform, { sid }) => {
      for (let n = 0; n < 4; n += 1) await platform.login()
      expect(await platform.authenticate(sid)).toMatchObject({ sts: 'loggedin', err: null })
    },
  ),
]

const passwords: Check[] = [
  error.anonymous('invalid_credentials: raa counts down to 0', async (platform, sid) => {
    const expected = [4, 3, 2, 1, 0].map((raa) => ['invalid_credentials', raa, -1])
    expect(await wrongPasswords(platform, sid, 5)).toEqual(expected)
  }),
  error.anonymous(
    'invalid_credentials: a name that is no account is answered alike, freeze included',
    async (platform, sid) => {
      const unknown = await wrongPasswords(platform, sid, 5, 'nobody')
      expect(unknown).toEqual(await wrongPasswords(platform, sid, 5, 'ada'))
      expect(await platform.authenticate(sid, { usr: 'nobody' })).toMatchObject({ err: 'account_frozen' })
    },
  ),
  error('invalid_credentials: attempts count across sessions and sites', async (platform) => {
    const [a, b] = [await platform.browser().identify(), await platform.browser().identify()]
    await platform.authenticate(a.sid, { pwd: 'wrong' })
    expect(await platform.authenticate(b.sid, { pwd: 'wrong' }, evening)).toMatchObject({ raa: 3 })
  }),
  error.anonymous('invalid_credentials: a login forgets them', async (platform, sid) => {
    await wrongPasswords(platform, sid, 3)
    await platform.authenticate(sid)
    await platform.logout(sid)
    const next = await platform.browser().identify()
    expect(await platform.authenticate(next.sid, { pwd: 'wrong' })).toMatchObject({ raa: 4 })
  }),
  error.anonymous('account_frozen: even with the right password, and frf says for how long', async (platform, sid) => {
    await wrongPasswords(platform, sid, 5)
    const answer = await platform.authenticate(sid)
    expect(answer).toMatchObject({ sts: 'anon', at: null, err: 'account_frozen', raa: -1 })
    expect(answer['frf']).toBeGreaterThan(43_190)
    expect(answer['frf']).toBeLessThanOrEqual(43_200)
  }),
  error.anonymous('account_frozen: frf gets less, and a wrong password does not prolong it', async (platform, sid) => {
    await wrongPasswords(platform, sid, 5)
    await platform.advance(3600)
    const frf = Number((await platform.authenticate(sid))['frf'])
    expect(frf).toBeGreaterThan(39_590)
    expect(frf).toBeLessThanOrEqual(39_600)
    await wrongPasswords(platform, sid, 3)
    expect(Number((await platform.authenticate(sid))['frf'])).toBeLessThanOrEqual(39_600)
  }),
  limit('an account is frozen for 12 hours', async (platform) => {
    const first = await platform.browser().identify()
    await wrongPasswords(platform, first.sid, 5)
    await platform.advance(43_190)
    const { sid } = await platform.browser().identify()
    expect(await platform.authenticate(sid)).toMatchObject({ err: 'account_frozen' })
    await platform.advance(10)
    expect(await platform.authenticate(sid)).toMatchObject({ sts: 'loggedin', err: null })
  }),
  error.anonymous('account_not_active: with the right password', async (platform, sid) => {
    const answer = await platform.authenticate(sid, { usr: 'otto', pwd: 'paper-lantern' })
    expect(answer).toMatchObject({ sts: 'anon', at: null, err: 'account_not_active', frf: -1, raa: -1 })
  }),
  error.anonymous('account_not_active: not told without the password', async (platform, sid) => {
    const answer = await platform.authenticate(sid, { usr: 'otto', pwd: 'wrong' })
    expect(answer).toMatchObject({ err: 'invalid_credentials', raa: 4 })
  }),
]

const oneTimePasswords: Check[] = [
  error('otp_consumed_or_expired: a one-time password logs in once', async (platform) => {
    const pwd = await otpFor(platform)
    expect(pwd).toMatch(/^\d{6}$/)
    await platform.login({ pwd })
    const { sid } = await platform.browser().identify()
    expect(await platform.authenticate(sid, { pwd })).toMatchObject({ sts: 'anon', err: 'otp_consumed_or_expired' })
  }),
  error('otp_consumed_or_expired: a one-time password lives 600 seconds', async (platform) => {
    const [inTime, pwd] = [await otpFor(platform), await otpFor(platform)]
    await platform.advance(590)
    await platform.login({ pwd: inTime })
    await platform.advance(10)
    const { sid } = await platform.browser().identify()
    expect(await platform.authenticate(sid, { pwd })).toMatchObject({ sts: 'anon', err: 'otp_consumed_or_expired' })
  }),
  error('invalid_otp: six digits that are not outstanding, and guessing freezes the account', async (platform) => {
    const pwd = await otpFor(platform)
    const wrong = String((Number(pwd) + 1) % 1_000_000).padStart(6, '0')
    const { sid } = await platform.browser().identify()
    const answer = await platform.authenticate(sid, { pwd: wrong })
    expect(answer).toMatchObject({ sts: 'anon', at: null, err: 'invalid_otp', raa: -1, frf: -1 })
    for (let n = 1; n < 5; n += 1) await platform.authenticate(sid, { pwd: wrong })
    expect(await platform.authenticate(sid, { pwd })).toMatchObject({ err: 'account_frozen' })
  }),
  error.anonymous('invalid_otp: not when none is outstanding', async (platform, sid) => {
    expect(await platform.authenticate(sid, { pwd: '123456' })).toMatchObject({ err: 'invalid_credentials' })
  }),
  error('a one-time password is for its account only', async (platform) => {
    const pwd = await otpFor(platform, 'grace')
    const { sid } = await platform.browser().identify()
    expect(await platform.authenticate(sid, { pwd })).toMatchObject({ err: 'invalid_credentials' })
  }),
]

export const errorRequirements: Check[] = [...sessions, ...passwords, ...oneTimePasswords]
