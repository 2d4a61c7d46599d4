import { createHash } from 'node:crypto'
import { sessionKey, shortHash } from '../../lib/storage/keys'

const sha256 = createHash('sha256').update('the-id').digest('base64url')

test('the key of a session is the whole hash of its ID, and a short hash its first sixteen characters', () => {
  expect(sessionKey('the-id')).toBe(sha256)
  expect(shortHash('the-id')).toBe(sha256.slice(0, 16))
})
