import child from 'node:child_process'
import dns from 'node:dns'
import fs from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import fc from 'fast-check'
import { TokenError } from '../../lib/errors'
import { clientOf, goodClaims, signClaims, targetOf } from './bad-tokens'
import { badTokens } from './bad-tokens-claims'

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
