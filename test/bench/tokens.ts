import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import path from 'node:path'
import { ratio, show, spread } from '../support/figures'
import { dist } from './machine'
import type { Options } from './options'

/*
 * A token signed and verified by this package, beside the least that has to be done with node:crypto for the same.
 */

type Protocol = typeof import('../../lib/protocol/token')

const secret = 'the secret of the benchmark, long enough'
const expected = { issuer: 'bench-press', audience: 'sso-service', toleranceSeconds: 5 }

/** Signs and verifies in turns. */
export function compareTokens({ rounds, quick }: Options): Record<string, string>[] {
  const { makeKeys, signToken, verifyToken }: Protocol = require(path.join(dist, 'protocol', 'token.js'))
  const now = Math.floor(Date.now() / 1000)
  const common = { iss: expected.issuer, aud: expected.audience, nbf: now, iat: now, exp: now + 10 }
  const details = { cid: 'bench', sid: 'a-session-of-the-benchmark', lks: 'anon', ipa: '203.0.113.7', uas: 'bench' }
  const claims = { ...common, ...details }
  const [keys, key] = [makeKeys(secret), createSecretKey(Buffer.from(secret))]
  const token = signToken(claims, keys)
  const times = quick ? 2000 : 20_000
  const compare = (what: string, here: () => unknown, byHand: () => unknown) => {
    const inTurn = () => [microseconds(here, times), microseconds(byHand, times)] as const
    const [, ...timed] = Array.from({ length: rounds + 1 }, inTurn)
    const [ours, theirs] = [timed.map(([own]) => own), timed.map(([, other]) => other)]
    return {
      token: what,
      'here, us': show(spread(ours), 1),
      'by hand, us': show(spread(theirs), 1),
      'here / by hand': show(ratio(ours, theirs), 2),
    }
  }
  return [
    compare(
      'sign',
      () => signToken(claims, keys),
      () => signByHand(claims, key),
    ),
    compare(
      'verify',
      () => verifyToken(token, keys, { ...expected, now }),
      () => verifyByHand(token, key, now),
    ),
  ]
}

function microseconds(run: () => unknown, times: number): number {
  const begin = performance.now()
  for (let n = 0; n < times; n += 1) run()
  return ((performance.now() - begin) * 1000) / times
}

const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function signByHand(claims: object, key: KeyObject): string {
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

function verifyByHand(token: string, key: KeyObject, now: number): object {
  const [head = '', body = '', signature = ''] = token.split('.')
  const good = createHmac('sha256', key).update(`${head}.${body}`).digest()
  if (!timingSafeEqual(good, Buffer.from(signature, 'base64url'))) throw new Error('signature')
  if (JSON.parse(Buffer.from(head, 'base64url').toString()).alg !== 'HS256') throw new Error('algorithm')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  if (claims.iss !== expected.issuer || claims.aud !== expected.audience) throw new Error('not for us')
  if (claims.nbf > now + 5 || claims.iat > now + 5 || claims.exp <= now - 5) throw new Error('time')
  return claims
}
