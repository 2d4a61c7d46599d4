import { createHash } from 'node:crypto'
import { seal, sessionKey, shortHash, unseal } from '../../lib/storage/site-store'

const sha256 = createHash('sha256').update('the-id').digest('base64url')

test('the key of a session is the whole hash of its ID, and a short hash its first sixteen characters', () => {
  expect(sessionKey('the-id')).toBe(sha256)
  expect(shortHash('the-id')).toBe(sha256.slice(0, 16))
})

const [key, old] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]

test('a seal shows nothing of its text, and is another each time', () => {
  const [one, two] = [seal('the-access-token', [key]), seal('the-access-token', [key])]
  expect(one).not.toBe(two)
  expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('access')
})

test('while secrets are rotated old seals open and new ones use the first key', () => {
  expect(unseal(seal('text', [old]), [key, old])).toBe('text')
  expect(unseal(seal('text', [key, old]), [old])).toBeUndefined()
})

test('any one bit changed breaks the seal', () => {
  const bytes = Buffer.from(seal('text', [key]), 'base64url')
  for (let at = 0; at < bytes.length * 8; at += 1) {
    const changed = Buffer.from(bytes)
    changed.writeUInt8(changed.readUInt8(at >> 3) ^ (1 << (at & 7)), at >> 3)
    expect(unseal(changed.toString('base64url'), [key])).toBeUndefined()
  }
})

test.each(['', 'a', 'garbage', 'A'.repeat(37), '\u0000', '{}'])('the text %j is no seal', (text) => {
  expect(unseal(text, [key])).toBeUndefined()
})
