import fc from 'fast-check'
import { Sso2Client } from '../../lib'
import { TokenError } from '../../lib/errors'
import { goodClaims, goodTokens, signClaims, type Target } from './bad-tokens'
import { badTokens } from './bad-tokens-corpus'

const now = 1_800_000_000
const target: Target = {
  operation: 'identify',
  issuer: 'sso-service',
  clientId: 'morning',
  organisationId: 'demo-press',
  secrets: ['the-secret-of-this-year-0123456789-abc', 'the-secret-of-last-year-0123456789-abc'],
  now,
  sid: 'a-session-of-the-sso-system',
  aid: 'account-ada',
  ticket: 'a-ticket',
}
const client = new Sso2Client({
  ssoUrl: 'http://127.0.0.1:9/sso',
  clientId: target.clientId,
  clientSecret: target.secrets,
  organisationId: target.organisationId,
  clock: { now: () => now * 1000 },
})
afterAll(() => client.close())

/** Why a token was refused; anything but a `TokenError` is the test's failure. */
function verdict(token: unknown): string {
  try {
    client.readLanding(token)
  } catch (error) {
    if (error instanceof TokenError) return error.reason
    throw error
  }
  return 'taken'
}

const good = signClaims(target, goodClaims(target))
const bytes = Buffer.from(good)

describe('the corpus', () => {
  const bad = badTokens(target)

  test('has at least 300 bad tokens and 12 good ones, each under a name of its own', () => {
    const names = bad.map(({ group, name }) => `${group}: ${name}`)
    const doubled = names.filter((name, index) => names.indexOf(name) !== index)
    expect(doubled).toEqual([])
    expect(names.length).toBeGreaterThanOrEqual(300)
    const good = goodTokens(target).map(({ name }) => name)
    expect(new Set(good).size).toBe(good.length)
    expect(good.length).toBeGreaterThanOrEqual(12)
  })

  test('has no token among the bad ones that is good', () => {
    const taken = new Set(goodTokens(target).map(({ token }) => token))
    expect(bad.filter(({ token }) => taken.has(String(token)))).toEqual([])
  })
})

describe('properties', () => {
  test('[T5] every byte of a good token changed by one bit, any bit, is refused', () => {
    expect(verdict(good)).toBe('taken')
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 1; bit < 256; bit *= 2) {
        const copy = Buffer.from(bytes)
        copy[at] = (copy[at] ?? 0) ^ bit
        if (verdict(copy.toString('latin1')) === 'taken') throw new Error(`bit ${bit} of byte ${at} says nothing`)
      }
    }
  })

  test('[T5] any byte of a good token replaced by any other is refused', () => {
    fc.assert(
      fc.property(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
        fc.pre(bytes[at] !== byte)
        const copy = Buffer.from(bytes)
        copy[at] = byte
        expect(verdict(copy.toString('latin1'))).not.toBe('taken')
      }),
      { numRuns: 3000 },
    )
  })

  test('[T5] a byte put in anywhere, or left out anywhere, is refused', () => {
    for (let at = 0; at < good.length; at += 1) {
      expect(verdict(good.slice(0, at) + good.slice(at + 1))).not.toBe('taken')
    }
    fc.assert(
      fc.property(fc.nat({ max: good.length }), fc.nat({ max: 255 }), (at, byte) => {
        const more = good.slice(0, at) + String.fromCharCode(byte) + good.slice(at)
        expect(verdict(more)).not.toBe('taken')
      }),
      { numRuns: 3000 },
    )
  })

  test('[T5] two good tokens mixed, segment by segment, are refused', () => {
    const other = signClaims(target, { ...goodClaims(target), sid: 'another-session' })
    const pairs = good.split('.').map((segment, index) => [segment, other.split('.')[index] ?? ''])
    fc.assert(
      fc.property(fc.tuple(fc.nat({ max: 1 }), fc.nat({ max: 1 }), fc.nat({ max: 1 })), (choice) => {
        const mixed = pairs.map((pair, index) => pair[choice[index] ?? 0]).join('.')
        const isWhole = mixed === good || mixed === other
        expect(verdict(mixed)).toBe(isWhole ? 'taken' : 'signature')
      }),
    )
  })

  test('[T16] any text, and anything that is no text, is refused and throws nothing else', () => {
    const character = fc.constantFrom(...'ABCXYZabcxyz0189-_+/=. \n\u0000{}"é')
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.string({ unit: character, maxLength: 300 }),
      fc.tuple(fc.base64String(), fc.base64String(), fc.base64String()).map((parts) => parts.join('.')),
    )
    const check = (input: unknown) => expect(verdict(input)).toMatch(/^(malformed|algorithm|signature)$/)
    fc.assert(fc.property(text, check), { numRuns: 2000 })
    fc.assert(fc.property(fc.anything(), check), { numRuns: 1000 })
  })

  test('[T16] any signed payload that is not ours is refused and throws nothing else', () => {
    const check = (claims: unknown) => {
      const token = signClaims(target, claims as Record<string, unknown>)
      expect(verdict(token)).toMatch(/^(malformed|issuer)$/)
    }
    fc.assert(fc.property(fc.jsonValue({ maxDepth: 3 }), check), { numRuns: 1000 })
  })

  test('[T9] one claim of another type, whichever and whatever, is refused', () => {
    const kindOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
    const claims = goodClaims(target)
    const mayBeNull = ['err']
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(claims)), fc.jsonValue({ maxDepth: 2 }), (name, value) => {
        const kinds = mayBeNull.includes(name) ? ['null', 'string'] : [kindOf(claims[name])]
        fc.pre(!kinds.includes(kindOf(value)))
        expect(verdict(signClaims(target, { ...claims, [name]: value }))).toMatch(/^(claims|issuer|audience)$/)
      }),
      { numRuns: 2000 },
    )
  })

  test('[T10] no number but a whole one within the life of a token is taken as a time', () => {
    const { exp: _exp, ...rest } = goodClaims(target)
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (exp) => {
        fc.pre(!Number.isInteger(exp) || exp <= now - 5 || exp > now + 15)
        expect(verdict(signClaims(target, { ...rest, exp }))).not.toBe('taken')
      }),
      { numRuns: 1000 },
    )
  })

  test('[T17] claims that nobody knows change nothing, whatever they hold', () => {
    const known = new Set(Object.keys(goodClaims(target)))
    const name = fc.string({ maxLength: 20 }).filter((text) => !known.has(text))
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue({ maxDepth: 2 })), (extra) => {
        const token = signClaims(target, { ...extra, ...goodClaims(target) })
        expect(verdict(token)).toBe(token.length > 8192 ? 'malformed' : 'taken')
      }),
      { numRuns: 500 },
    )
  })
})
