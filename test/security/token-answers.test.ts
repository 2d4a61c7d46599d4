import { TokenError } from '../../lib/errors'
import type { Operation } from '../../lib/protocol/claims'
import type { SessionToken } from '../../lib/protocol/session-token'
import { device, type Listener, listen } from '../support/back-channel'
import { badTokens, clientOf, goodClaims, goodTokens, signClaims, targetOf } from './bad-tokens'

const operations: Operation[] = ['identify', 'sessionstatus', 'authenticate', 'logout', 'logoutall']

/** What the SSO system answers, at the landing or on the back channel. */
let answer: unknown
let platform: Listener

beforeAll(async () => {
  platform = await listen((req, res) => {
    const body = JSON.stringify({ t: answer })
    req.resume().once('end', () => res.setHeader('content-type', 'application/json').end(body))
  })
})
afterAll(() => platform.close())

/** One question, by a client of its own: several bad answers in a row are an outage to it. */
async function ask(operation: Operation): Promise<SessionToken> {
  const { sid, aid } = targetOf(operation)
  const client = clientOf(targetOf(operation), `${platform.url}/sso`)
  const questions: Record<Operation, () => Promise<SessionToken>> = {
    identify: async () => client.readLanding(answer),
    sessionstatus: () => client.sessionStatus({ sid, lks: 'anon', ...device }),
    authenticate: () => client.authenticate({ sid, usr: 'ada', pwd: 'correct-horse', ...device }),
    logout: () => client.logout({ sid, ...device }),
    logoutall: () => client.logoutAll({ aid, ...device }),
  }
  try {
    return await questions[operation]()
  } finally {
    expect(client.isAvailable).toBe(true)
    client.close()
  }
}

/** Why the answer was refused. Anything else is the test's failure. */
async function verdict(asked: Promise<SessionToken>): Promise<string> {
  try {
    await asked
  } catch (error) {
    if (error instanceof TokenError) return error.reason
    throw error
  }
  return 'taken'
}

describe.each(operations)('as the answer to %s', (operation) => {
  const target = targetOf(operation)

  test('[T1, T2, T3, T4, T5, T6, T7, T8, T9, T10, T11, T14, T16, L5, L6, L8] every bad token is refused, for its reason', async () => {
    const bad = badTokens(target)
    const names = bad.map(({ group, name }) => `${group}: ${name}`)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
    expect(bad.length).toBeGreaterThanOrEqual(80)
    const failures: string[] = []
    for (const { group, name, token, reasons } of bad) {
      answer = token
      const found = await verdict(ask(operation))
      if (!reasons.some((reason) => reason === found)) failures.push(`${group}: ${name}: ${found}`)
    }
    expect(failures).toEqual([])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('[T17] every good variant is taken', async () => {
    const { sid, at, sts } = goodClaims(target)
    for (const { name, token } of goodTokens(target)) {
      answer = token
      const read = await ask(operation)
      expect([name, read.sid, read.at, read.sts]).toEqual([name, sid, at ?? undefined, sts])
    }
  })
})

const target = targetOf('identify')
const ofLanding = (token: unknown) => {
  answer = token
  return verdict(ask('identify'))
}

test('[T15] a signature that differs in one byte, whichever, is refused as a signature', async () => {
  const [header = '', payload = '', signature = ''] = signClaims(target, goodClaims(target)).split('.')
  const bytes = [...Buffer.from(signature, 'base64url')]
  for (const place of bytes.keys()) {
    const forged = Buffer.from(bytes.map((byte, index) => (index === place ? byte ^ 1 : byte)))
    expect(await ofLanding(`${header}.${payload}.${forged.toString('base64url')}`)).toBe('signature')
  }
})
