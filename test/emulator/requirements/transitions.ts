import { evening, type Platform, type Visitor } from '../platform'
import { type Check, requirementsOf } from './check'

const states = requirementsOf('SSO2 session states')
const row = requirementsOf('States and transitions')

const beginnings: Check[] = [
  row('(none), Identify: a new anonymous session', async (platform) => {
    const [a, b] = [await platform.browser().identify(), await platform.browser().identify()]
    for (const claims of [a, b]) expect(claims).toMatchObject({ sts: 'anon', at: null, err: null })
    expect(a.sid).not.toBe(b.sid)
  }),
  row.anonymous('anon, Identify: the same session', async (_platform, sid, visitor) => {
    expect(await visitor.identify(evening)).toMatchObject({ sid, sts: 'anon' })
  }),
  row.loggedIn('terminated, Identify: a new anonymous session, which is found again', async (platform, login) => {
    const { sid, visitor } = login
    await platform.logout(sid)
    const next = await visitor.identify()
    expect(next).toMatchObject({ sts: 'anon', at: null, err: null })
    expect(next.sid).not.toBe(sid)
    expect(await visitor.identify(evening)).toMatchObject({ sid: next.sid, sts: 'anon' })
  }),
  row.loggedIn('loggedin, Identify: the same session, with a ticket', async (_platform, { sid, visitor }) => {
    const claims = await visitor.identify(evening)
    expect(claims).toMatchObject({ sid, sts: 'loggedin', at: expect.any(String), err: null })
  }),
  states('a cookie that the SSO system did not make opens a session of its own', async (platform) => {
    const visitor = platform.browser()
    visitor.cookie = 'sso2emu=chosen-by-somebody'
    const { setCookie } = await visitor.send()
    expect(setCookie[0]).not.toContain('chosen-by-somebody')
  }),
  states('the cookie is out of reach for scripts and other sites', async (platform) => {
    const { setCookie } = await platform.browser().send()
    expect(setCookie[0]).toMatch(/^sso2emu=[\w-]{22}; Path=\/sso; HttpOnly; SameSite=Lax$/)
  }),
]

const logins: Check[] = [
  row.anonymous('anon, Authenticate, valid credentials: loggedin', async (platform, sid) => {
    const claims = await platform.authenticate(sid)
    expect(claims).toMatchObject({ sid, sts: 'loggedin', at: expect.any(String), err: null })
    expect(await platform.status(sid, 'loggedin')).toMatchObject({ sts: 'loggedin' })
  }),
  row.anonymous('anon, Authenticate, wrong credentials: anon', async (platform, sid) => {
    expect(await platform.authenticate(sid, { pwd: 'wrong' })).toMatchObject({ sid, sts: 'anon', at: null })
    expect(await platform.status(sid)).toMatchObject({ sid, sts: 'anon' })
  }),
  row.loggedIn(
    'loggedin, Authenticate as the same account: loggedin, with a new ticket',
    async (platform, { sid, at }) => {
      const again = await platform.authenticate(sid)
      expect(again).toMatchObject({ sts: 'loggedin', at: expect.any(String), err: null })
      expect(again['at']).not.toBe(at)
    },
  ),
  row.anonymous('anon, login and logout on another site: seen by Session Status', async (platform, sid) => {
    await platform.authenticate(sid, {}, evening)
    expect(await platform.status(sid, 'anon')).toMatchObject({ sts: 'loggedin', at: expect.any(String) })
    await platform.logout(sid, evening)
    expect(await platform.status(sid, 'anon')).toMatchObject({ sts: 'terminated', at: null, err: null })
  }),
]

const ends: Check[] = [
  row.anonymous('anon, Logout: terminated', async (platform, sid) => {
    expect(await platform.logout(sid)).toMatchObject({ sid, sts: 'terminated', at: null, err: null })
    expect(await platform.status(sid)).toMatchObject({ sts: 'terminated' })
  }),
  row.loggedIn('loggedin, Logout: terminated', async (platform, { sid }) => {
    expect(await platform.logout(sid)).toMatchObject({ sid, sts: 'terminated', at: null, err: null })
    expect(await platform.status(sid)).toMatchObject({ sts: 'terminated' })
  }),
  row.loggedIn('terminated, Logout: terminated, and no error', async (platform, { sid }) => {
    await platform.logout(sid)
    expect(await platform.logout(sid)).toMatchObject({ sid, sts: 'terminated', err: null })
  }),
  row('a user may hold several sessions at once, and Logout all ends every one', async (platform) => {
    const sids = [(await platform.login()).sid, (await platform.login({}, evening)).sid]
    for (const sid of sids) expect(await platform.status(sid, 'loggedin')).toMatchObject({ sts: 'loggedin' })
    await platform.call('logoutall', { aid: 'A-ada' })
    for (const sid of sids) expect(await platform.status(sid, 'loggedin')).toMatchObject({ sts: 'terminated' })
  }),
  row('Logout all leaves sessions of others alone', async (platform) => {
    const anon = await platform.browser().identify()
    const grace = await platform.login({ usr: 'grace', pwd: 'battery-staple' })
    await platform.login()
    await platform.call('logoutall', { aid: 'A-ada' })
    expect(await platform.status(grace.sid, 'loggedin')).toMatchObject({ sts: 'loggedin' })
    expect(await platform.status(anon.sid)).toMatchObject({ sts: 'anon' })
  }),
  row('Logout all of an unknown account does not tell so', async (platform) => {
    const claims = await platform.call('logoutall', { aid: 'nobody' })
    expect(claims).toMatchObject({ aid: 'nobody', sts: 'terminated', at: null, err: null })
  }),
]

const activities: [what: string, act: (platform: Platform, sid: string, visitor: Visitor) => Promise<unknown>][] = [
  ['Session Status', (platform, sid) => platform.status(sid)],
  ['Identify', (_platform, _sid, visitor) => visitor.identify(evening)],
  ['Authenticate', (platform, sid) => platform.authenticate(sid, { pwd: 'wrong' })],
]

const pruning: Check[] = [
  states.anonymous('a session is forgotten after 7200 seconds of inactivity, not before', async (platform, sid) => {
    await platform.advance(7190)
    expect((await platform.status(sid))['err']).toBeNull()
    await platform.advance(7200)
    expect((await platform.status(sid))['err']).toBe('session_not_found')
  }),
  ...activities.map(([what, act]) =>
    states.anonymous(`${what} is activity`, async (platform, sid, visitor) => {
      await platform.advance(4000)
      await act(platform, sid, visitor)
      await platform.advance(4000)
      expect(await platform.status(sid)).toMatchObject({ sts: 'anon', err: null })
    }),
  ),
]

export const transitionRequirements: Check[] = [...beginnings, ...logins, ...ends, ...pruning]
