import fc from 'fast-check'
import { TokenError } from '../../lib/errors'
import { clientOf, goodClaims, signClaims, targetOf } from './bad-tokens'

const target = targetOf('identify')
const client = clientOf(target)
const claims = goodClaims(target)
afterAll(() => client.close())

/** Why a token was refused. Anything but a `TokenError` is the test's failure. */
function verdict(token: unknown): string {
  try {
    client.readLanding(token)
  } catch (error) {
    if (error instanceof TokenError) return error.reason
    throw error
  }
  return 'taken'
}

test('[T16] any signed payload that is not ours is refused and throws nothing else', () => {
  const check = (payload: unknown) => {
    const token = signClaims(target, payload as Record<string, unknown>)
    expect(verdict(token)).toMatch(/^(malformed|audience|issuer)$/)
  }
  fc.assert(fc.property(fc.jsonValue({ maxDepth: 3 }), check), { numRuns: 1000 })
})

test('[T15] a signature that differs in one byte, whichever, is refused as a signature', () => {
  const [header = '', payload = '', signature = ''] = signClaims(target, claims).split('.')
  const bytes = [...Buffer.from(signature, 'base64url')]
  for (const place of bytes.keys()) {
    const forged = Buffer.from(bytes.map((byte, index) => (index === place ? byte ^ 1 : byte)))
    expect(verdict(`${header}.${payload}.${forged.toString('base64url')}`)).toBe('signature')
  }
})
