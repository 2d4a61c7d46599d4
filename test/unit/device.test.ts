import { DEVICE_SECONDS, isRecognised, networkOf, normalisedUsername, withDevice } from '../../lib/decide/device'
import { NOW } from './samples'

const keys = [Buffer.alloc(32, 1)]
const cookie = withDevice(keys, undefined, 'ada', NOW)

test('[F3] a device cookie shows no name, and lasts 180 days', () => {
  expect(cookie).toMatch(/^\d+\.[\w-]{22}$/)
  expect(DEVICE_SECONDS).toBe(15_552_000)
})

test.each<[what: string, value: string | undefined, username: string, now: number, found: boolean]>([
  ['its own name', cookie, 'ada', NOW, true],
  ['the last second of 180 days', cookie, 'ada', NOW + DEVICE_SECONDS, true],
  ['later', cookie, 'ada', NOW + DEVICE_SECONDS + 1, false],
  ['a time long before it was issued', cookie, 'ada', NOW - 61, false],
  ['another name', cookie, 'grace', NOW, false],
  ['a name that only looks alike', cookie, '\uff41da', NOW, false],
  ['a cut cookie', cookie.slice(0, -3), 'ada', NOW, false],
  ['no cookie', undefined, 'ada', NOW, false],
])('[F3, F13] a device cookie and %s', (_what, value, username, now, found) => {
  expect(isRecognised(keys, value, username, now)).toBe(found)
})

test('[F3] a secret that was rotated verifies a device cookie, another secret does not', () => {
  const other = Buffer.alloc(32, 2)
  expect(isRecognised([other, ...keys], cookie, 'ada', NOW)).toBe(true)
  expect(isRecognised([other], cookie, 'ada', NOW)).toBe(false)
})

test('a login replaces the entry of its username, and drops what is no entry', () => {
  const grace = withDevice(keys, undefined, 'grace', NOW)
  const twice = withDevice(keys, `unreadable~${cookie}~${grace}`, 'ada', NOW + 5)
  expect(twice).toBe(`${withDevice(keys, undefined, 'ada', NOW + 5)}~${grace}`)
})

test('a browser keeps the last four usernames, each once', () => {
  let value: string | undefined
  for (const name of ['a', 'b', 'c', 'b', 'd', 'e']) value = withDevice(keys, value, name, NOW)
  const kept = ['a', 'b', 'c', 'd', 'e'].filter((name) => isRecognised(keys, value, name, NOW))
  expect(kept).toEqual(['b', 'c', 'd', 'e'])
  expect(value?.split('~')).toHaveLength(4)
})

test.each<[address: string, network: string]>([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2345::1', '2001:db8:1:2300'],
  ['2001:db8::1', '2001:db8:0:0'],
  ['::1', '0:0:0:0'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0'],
])('[F4] the limits count %s as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

/** Spellings of one username, by the name. */
const spellings: Record<string, string[]> = {
  grace: [
    ...['grace', 'GRACE', ' grace\t', 'gr\u00e0ce', 'gra\u0300ce', 'gr\u0101c\u0113', 'gra\u200bce', '\uff27race'],
    ...['g\u00adrace', '\ufeffgrace\u2060', 'grace\u{e0041}', 'gra\u115fce', '\u3164grace\u{e0000}', 'gra\ufe0fce'],
  ],
  eve: ['\u{1d404}ve'],
  'ada@demo.example': ['ada@demo.example'],
  '': ['\u200b'],
}
const names = Object.entries(spellings).flatMap(([normalised, all]) => all.map((name) => [name, normalised] as const))
test.each(names)('[F16] the normalised username of %j is %j', (name, normalised) => {
  expect(normalisedUsername(name)).toBe(normalised)
})
