import type { Log } from '../../lib/log/log'
import { Sso2Client, type Sso2ClientOptions } from '../../lib/remote/sso2-client'
import { type Behaviour, faultyServer, json } from '../support/faulty-server'
import { readJwt, signJwt } from '../support/oracle'

/* An SSO system that answers as a test says, and a client of it. */

export const secret = 'a secret that only this test and its oracle know'
const names = { clientId: 'the-site', organisationId: 'the-publisher' }
export const device = { ipa: '192.0.2.1', uas: 'Mozilla/5.0' }
const now = () => Math.floor(Date.now() / 1000)
export const claimsOf = (body: string) => readJwt(JSON.parse(body).t).claims

export const tokenWith = (claims: object, signedWith = secret, iat = now()) =>
  signJwt({ iss: 'sso-service', aud: 'the-site', nbf: iat, iat, exp: iat + 10, sts: 'anon', ...claims }, signedWith)

/** An answer of the SSO system about whatever session was asked about. */
export const says =
  (claims: object, signedWith = secret): Behaviour =>
  (res, { body }) => {
    const { sid } = claimsOf(body)
    json(res, 200, { t: tokenWith({ sid, ...claims }, signedWith) })
  }
export const isWell: Behaviour = (res, seen, count) => says({ err: 'session_not_found', sts: null })(res, seen, count)

/** Of one session alone, and well otherwise. */
export const onlyOf =
  (sid: string, behave: Behaviour): Behaviour =>
  (res, seen, count) =>
    (claimsOf(seen.body)['sid'] === sid ? behave : isWell)(res, seen, count)

const clientOf = (ssoUrl: string, options: Partial<Sso2ClientOptions> = {}, log?: Log) =>
  new Sso2Client({ ssoUrl, ...names, clientSecret: secret, timeoutMs: 500, ...options, log })

async function scene(behave: Behaviour, options: Partial<Sso2ClientOptions>, log?: Log) {
  const server = await faultyServer()
  server.become(behave)
  const client = clientOf(server.url, options, log)
  const ask = () => client.sessionStatus({ sid: 's1', lks: 'anon', ...device }).catch((error: unknown) => error)
  const logIn = () =>
    client.authenticate({ sid: 's1', usr: 'ada', pwd: 'x', ...device }).catch((error: unknown) => error)
  const times = async (count: number, call: () => Promise<unknown>) => {
    for (let asked = 0; asked < count; asked += 1) await call()
  }
  const close = async () => {
    client.close()
    await server.close()
  }
  return { server, client, ask, logIn, times, close }
}

/** What is open during a test: its end closes all of it, puts the real timers back, and restores what was spied on. */
export function openInTest() {
  const open: { close(): unknown }[] = []
  afterEach(async () => {
    jest.useRealTimers()
    jest.restoreAllMocks()
    for (const one of open.splice(0)) await one.close()
  })
  return open
}

/** What makes the scenes of a suite, each of which ends with its test. @param usual options of all */
export function useScenes(usual: Partial<Sso2ClientOptions> = {}) {
  const open = openInTest()
  return async (behave: Behaviour, options: Partial<Sso2ClientOptions> = {}, log?: Log) => {
    const made = await scene(behave, { ...usual, ...options }, log)
    open.push(made)
    return made
  }
}
