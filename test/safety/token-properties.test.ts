import child from 'node:child_process'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { TokenError } from '../../lib/errors'
import { clientOf, goodClaims, signClaims, targetOf } from './bad-tokens'
import { badTokens } from './bad-tokens-claims'

const target = targetOf('identify')
const client = clientOf(target)
const claims = goodClaims(target)
const { now } = target
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

test('[T9] one claim of another type, whichever and whatever, is refused', () => {
  const kindOf = (value: unknown) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
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
  fc.assert(
    fc.property(fc.double({ noNaN: true }), (exp) => {
      fc.pre(!Number.isInteger(exp) || exp <= now - 5 || exp > now + 15)
      expect(verdict(signClaims(target, { ...claims, exp }))).not.toBe('taken')
    }),
    { numRuns: 1000 },
  )
})

test('[T17] unknown claims change nothing, whatever they hold', () => {
  const known = new Set(Object.keys(claims))
  const name = fc.string({ maxLength: 20 }).filter((text) => !known.has(text))
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue({ maxDepth: 2 })), (extra) => {
      const token = signClaims(target, { ...extra, ...claims })
      expect(verdict(token)).toBe(token.length > 8192 ? 'malformed' : 'taken')
    }),
    { numRuns: 500 },
  )
})

test('[T15] a signature that differs in one byte, whichever, is refused as a signature', () => {
  const [header = '', payload = '', signature = ''] = signClaims(target, claims).split('.')
  const bytes = [...Buffer.from(signature, 'base64url')]
  for (const place of bytes.keys()) {
    const forged = Buffer.from(bytes.map((byte, index) => (index === place ? byte ^ 1 : byte)))
    expect(verdict(`${header}.${payload}.${forged.toString('base64url')}`)).toBe('signature')
  }
})

test('[T3] no token, whatever its header names, makes the verifier touch network, files or processes', () => {
  const tokens = badTokens(target).map(({ token }) => token)
  const names = Object.keys(fs).filter((name) =>
    /^(open|read|stat|lstat|access|exists|realpath|create|write|watch)/.test(name),
  )
  const watched: [object, string[]][] = [
    [fs, names],
    [fs.promises, ['open', 'readFile', 'stat', 'access']],
    [net.Socket.prototype, ['connect']],
    [dns, ['lookup', 'resolve']],
    [http, ['request', 'get']],
    [child, ['spawn', 'exec', 'execFile', 'spawnSync', 'execSync']],
    [globalThis, ['fetch']],
  ]
  verdict(signClaims(target, claims))
  const spies = watched.flatMap(([owner, all]) => all.map((name) => jest.spyOn(owner as never, name as never)))
  try {
    const reasons = tokens.map(verdict)
    expect(spies.map((spy) => spy.mock.calls.length).reduce((sum, calls) => sum + calls, 0)).toBe(0)
    expect(reasons.filter((reason) => reason === 'signature').length).toBeGreaterThan(15)
    fs.existsSync('/')
    expect(spies.some((spy) => spy.mock.calls.length > 0)).toBe(true)
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
})

test('[T16] bad tokens again and again use no more memory', () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const tokens = badTokens(target).map(({ token }) => token)
  const heap: number[] = []
  for (let pass = 0; pass < 30; pass += 1) {
    for (const token of tokens) verdict(token)
    collect()
    heap.push(process.memoryUsage().heapUsed)
  }
  expect((heap.at(-1) ?? 0) - (heap[9] ?? 0)).toBeLessThan(5 * 1024 * 1024)
})
