import { DEVICE_SECONDS, exactNameHash, findDevice, withDevice } from '../../lib/decide/device-cookie'
import { seal, unseal } from '../../lib/storage/site-store'
import { NOW } from './samples'

const keys = [Buffer.alloc(32, 1)]
const boxWith = (all: readonly Buffer[]) => ({
  seal: (text: string) => seal(text, all),
  open: (sealed: string) => unseal(sealed, all),
})
const box = boxWith(keys)
const device = (username: string, issued = NOW) => ({ issued, account: 'the-account', name: exactNameHash(username) })
const cookie = withDevice(undefined, device('ada'), box)

test('[F3] a device cookie shows no name and no account', () => {
  expect(cookie).toMatch(/^[\w-]+$/)
  expect(Buffer.from(cookie, 'base64url').toString('latin1')).not.toMatch(/ada|the-account/)
})

test.each<[what: string, value: string | undefined, username: string, now: number, isFound: boolean]>([
  ['its own name', cookie, 'ada', NOW, true],
  ['the last second of 180 days', cookie, 'ada', NOW + DEVICE_SECONDS, true],
  ['a clock that is a minute behind', cookie, 'ada', NOW - 60, true],
  ['later', cookie, 'ada', NOW + DEVICE_SECONDS + 1, false],
  ['a time long before it was issued', cookie, 'ada', NOW - 61, false],
  ['another name', cookie, 'grace', NOW, false],
  ['a name that only looks alike', cookie, '\uff41da', NOW, false],
  ['a name in another case', cookie, 'ADA', NOW, false],
  ['a cut cookie', cookie.slice(0, -3), 'ada', NOW, false],
  ['no cookie', undefined, 'ada', NOW, false],
  ['nothing', '~~~', 'ada', NOW, false],
  ['another sealed text with its hash', seal(`flow\n${NOW}\nx\n${exactNameHash('ada')}`, keys), 'ada', NOW, false],
])('[F3, F13] a device cookie and %s', (_what, value, username, now, isFound) => {
  expect(findDevice(value, username, box, now) !== undefined).toBe(isFound)
})

test('[F3] a secret that was rotated opens it, another one does not', () => {
  const other = Buffer.alloc(32, 2)
  expect(findDevice(cookie, 'ada', boxWith([other, ...keys]), NOW)).toEqual(device('ada'))
  expect(findDevice(cookie, 'ada', boxWith([other]), NOW)).toBeUndefined()
})

test('a device cookie lasts 180 days, and holds 16 characters of the hash of a name', () => {
  expect(DEVICE_SECONDS).toBe(15_552_000)
  expect(exactNameHash('ada')).toMatch(/^[\w-]{16}$/)
})

test('a login replaces the entry of its user name, and drops entries that cannot be read', () => {
  const twice = withDevice(`unreadable~${cookie}~${withDevice(undefined, device('grace'), box)}`, device('ada'), box)
  expect(twice.split('~')).toHaveLength(2)
  expect(['ada', 'grace'].filter((name) => findDevice(twice, name, box, NOW))).toEqual(['ada', 'grace'])
})

test('a browser keeps the last four names, each once', () => {
  let value: string | undefined
  for (const name of ['a', 'b', 'c', 'b', 'd', 'e']) value = withDevice(value, device(name), box)
  const kept = ['a', 'b', 'c', 'd', 'e'].filter((name) => findDevice(value, name, box, NOW))
  expect(kept).toEqual(['b', 'c', 'd', 'e'])
  expect(value?.split('~')).toHaveLength(4)
})
