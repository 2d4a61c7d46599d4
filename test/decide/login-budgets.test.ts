import { landingBudgets, loginBudgets, networksOf, normalisedUsername } from '../../lib/decide/login-budgets'

const multiples = (address: string) => networksOf(address).map(({ name, multiple }) => `${name} ${multiple}`)

test.each<[address: string, networks: readonly string[]]>([
  ['203.0.113.7', ['203.0.113.0/24 4', '203.0.113.7 1']],
  ['2001:db8:1:2345::1', ['2001:db8:1:0::/48 4', '2001:db8:1:2300::/56 2', '2001:db8:1:2345::/64 1']],
  ['2001:0DB8:0001:0002::', ['2001:db8:1:0::/48 4', '2001:db8:1:0::/56 2', '2001:db8:1:2::/64 1']],
  ['2001:db8::1', ['2001:db8:0:0::/48 4', '2001:db8:0:0::/56 2', '2001:db8:0:0::/64 1']],
  ['2001:db8:1:2:3:4:5:6', ['2001:db8:1:0::/48 4', '2001:db8:1:0::/56 2', '2001:db8:1:2::/64 1']],
  ['2001:db8:ffff:ffff::', ['2001:db8:ffff:0::/48 4', '2001:db8:ffff:ff00::/56 2', '2001:db8:ffff:ffff::/64 1']],
  ['::1', ['0:0:0:0::/48 4', '0:0:0:0::/56 2', '0:0:0:0::/64 1']],
  ['::1:2:3:4:5:6', ['0:0:1:0::/48 4', '0:0:1:0::/56 2', '0:0:1:2::/64 1']],
  ['a::1:2:3:4:5:6', ['a:0:1:0::/48 4', 'a:0:1:0::/56 2', 'a:0:1:2::/64 1']],
  ['::', ['0:0:0:0::/48 4', '0:0:0:0::/56 2', '0:0:0:0::/64 1']],
  ['64:ff9b::192.0.2.1', ['64:ff9b:0:0::/48 4', '64:ff9b:0:0::/56 2', '64:ff9b:0:0::/64 1']],
])('[F20] the networks of %s', (address, networks) => {
  expect(multiples(address)).toEqual(networks)
})

test('[F4, F20] an attempt is counted for its networks, its address, its name there and the site, with these limits', () => {
  const limit = { attempts: 10, perSeconds: 60 }
  const { counts, reserved: kept } = loginBudgets(limit, '2001:db8:1:2345::1', 'ada')
  expect(counts.map(({ reason, limit: most }) => [reason, most])).toEqual([
    ['network', 200],
    ['network', 100],
    ['address', 50],
    ['address_and_name', 10],
    ['site', 250],
  ])
  expect(kept).toBe(62.5)
  const v4 = loginBudgets(limit, '203.0.113.7', 'ada').counts
  expect(v4.map(({ limit: most }) => most)).toEqual([200, 50, 10, 250])
  const subjects = new Set(v4.map(({ subject }) => subject))
  const sharedWith = (ip: string, username: string) =>
    loginBudgets(limit, ip, username).counts.filter(({ subject }) => subjects.has(subject)).length
  expect(sharedWith('203.0.113.7', 'bob')).toBe(3)
  expect(sharedWith('203.0.113.8', 'ada')).toBe(2)
  expect(sharedWith('203.0.114.7', 'ada')).toBe(1)
})

test('[F4] processes of two versions count under the same names', () => {
  const { counts } = loginBudgets({ attempts: 10, perSeconds: 60 }, '203.0.113.7', 'ada')
  expect(counts.map(({ subject }) => subject)).toEqual([
    'login\n203.0.113.0/24',
    'login\n203.0.113.7',
    'login\n203.0.113.7\nada',
    'login',
  ])
})

test('[S8, F20] a landing is counted for its networks and its address', () => {
  expect(landingBudgets('2001:db8:1:2::1').counts.map(({ limit }) => limit)).toEqual([2400, 1200, 600])
  expect(landingBudgets('203.0.113.7').counts.map(({ limit }) => limit)).toEqual([2400, 600])
  const logins = loginBudgets({ attempts: 1, perSeconds: 1 }, '203.0.113.7', 'ada').counts
  const subjects = new Set([...logins, ...landingBudgets('203.0.113.7').counts].map(({ subject }) => subject))
  expect(subjects.size).toBe(6)
  expect(landingBudgets('203.0.113.7').counts.map(({ reason }) => reason)).toEqual(['network', 'network'])
})

/** Spellings of one user name, by the name. */
const spellings: Record<string, string[]> = {
  grace: [
    ...['grace', 'GRACE', ' grace\t', 'gr\u00e0ce', 'gra\u0300ce', 'gr\u0101c\u0113', 'gra\u200bce'],
    ...['g\u00adrace', '\ufeffgrace\u2060', 'grace\u{e0041}', 'gra\u115fce', '\u3164grace\u{e0000}', 'gra\u0363ce'],
    ...['gra\ufe0fce', '\uff27race', 'gr\u0640ace', '\u0600grace'],
  ],
  eve: ['\u{1d404}ve'],
  strasse: ['stra\u00dfe', 'STRASSE', '\u017ftrasse', 'stra\u1e9ee'],
  ida: ['\u0130da', '\u0131da'],
  '\u03c3\u03b1\u03c2': ['\u03a3\u03b1\u03c2'],
  'ada@demo.example': ['ada@demo.example'],
  'ada-b': ['ada-b'],
  '': ['\u200b'],
  soren: ['s\u00f8ren'],
  lars: ['\u0142ars'],
  dan: ['\u0111an'],
  aegir: ['\u00c6gir'],
  coeur: ['c\u0153ur'],
  johan4: ['johan4\u0001\u0001'],
  ada1: ['ada\u0661', 'ada\u06f1'],
  ada9: ['ada\u0669'],
  tom: ['\ua787om'],
}
const names = Object.entries(spellings).flatMap(([normalised, all]) => all.map((name) => [name, normalised] as const))
test.each(names)('[F16] the normalised user name of %j is %j', (name, normalised) => {
  expect(normalisedUsername(name)).toBe(normalised)
})

test('[F16] a normalised user name is its own', () => {
  const names = Array.from({ length: 0x3000 }, (_, code) => normalisedUsername(`a${String.fromCharCode(code)}b`))
  expect(names.filter((name) => normalisedUsername(name) !== name)).toEqual([])
})

test('names that differ in a letter differ', () => {
  expect(new Set(['grace', 'grade', 'grac', 'gracie', 'g race'].map(normalisedUsername)).size).toBe(5)
})
