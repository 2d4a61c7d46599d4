import { isSignedWith, readJwt } from '../../support/oracle'
import { device, evening, morning, type Platform, token } from '../platform'
import { type Check, requirementsOf } from './check'

const answer = requirementsOf('Session Token (ST), the response JWT')
const ticket = requirementsOf('Rules for `at`')

async function landingToken(platform: Platform): Promise<string> {
  const { headers } = await platform.browser().send()
  return new URL(headers.location ?? '').searchParams.get('t') ?? ''
}

const claims: Check[] = [
  answer("it is signed with the client's secret", async (platform) => {
    expect(isSignedWith(await landingToken(platform), morning.secret)).toBe(true)
    const { sid } = await platform.browser().identify()
    const { json } = await platform.callRaw('sessionstatus', token(evening, { ...device, sid, lks: 'anon' }))
    expect(isSignedWith(json.t, evening.secret)).toBe(true)
  }),
  answer.anonymous('iss is the SSO system, aud the client that asked', async (platform, sid) => {
    expect(await platform.status(sid, 'anon', evening)).toMatchObject({ iss: 'sso-service', aud: 'evening' })
  }),
  answer('nbf and iat are the creation time, exp 10 seconds later', async (platform) => {
    const before = Math.floor(Date.now() / 1000)
    const { claims } = readJwt(await landingToken(platform))
    expect(claims['nbf']).toBe(claims['iat'])
    expect(Number(claims['exp']) - Number(claims['iat'])).toBe(10)
    expect(claims['iat']).toBeGreaterThanOrEqual(before)
    expect(claims['iat']).toBeLessThanOrEqual(Date.now() / 1000)
  }),
  answer('at the landing page it has alg HS256, typ JWT and nine claims, and nothing else', async (platform) => {
    const { header, claims } = readJwt(await landingToken(platform))
    expect(header).toEqual({ alg: 'HS256', typ: 'JWT' })
    expect(Object.keys(claims).sort()).toEqual(['at', 'aud', 'err', 'exp', 'iat', 'iss', 'nbf', 'sid', 'sts'])
  }),
  answer.anonymous('frf and raa are in the answer to Authenticate alone, -1 for nothing', async (platform, sid) => {
    expect(await platform.authenticate(sid)).toMatchObject({ frf: -1, raa: -1 })
    for (const claims of [await platform.status(sid), await platform.logout(sid)]) {
      expect(claims).not.toHaveProperty('frf')
      expect(claims).not.toHaveProperty('raa')
    }
  }),
  answer('Logout all returns aid instead of sid', async (platform) => {
    const claims = await platform.call('logoutall', { aid: 'A-ada' })
    expect(claims).toMatchObject({ aid: 'A-ada', sts: 'terminated', at: null, err: null })
    expect(claims).not.toHaveProperty('sid')
  }),
]

/** Identify, Authenticate and Logout are in `transitions.ts`, with their tickets. */
const tickets: Check[] = [
  ticket.loggedIn('Session Status of a login hands out a ticket only when lks is anon', async (platform, { sid }) => {
    expect(await platform.status(sid, 'anon')).toMatchObject({ sts: 'loggedin', at: expect.any(String) })
    for (const lks of ['loggedin', 'terminated'])
      expect(await platform.status(sid, lks)).toMatchObject({ sts: 'loggedin', at: null })
  }),
]

export const answerRequirements: Check[] = [...claims, ...tickets]
