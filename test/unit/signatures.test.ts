import { DOCTOR_HEADER, isDoctorSignature, makeDoctorSignature, siteReport } from '../../lib/decide/doctor-protocol'
import {
  type MacKeys,
  makeStamp,
  type Purpose,
  readSigned,
  readStamp,
  redirectStart,
  writeSigned,
} from '../../lib/decide/signatures'
import { DEVICE_SECONDS, isRecognised, normalisedUsername, withDevice } from '../../lib/web/limits'
import { NOW } from './samples'

/* What a browser, or the doctor, carries with a MAC: the binding, signed cookies, the device cookie, the doctor's signature. */

const keys: MacKeys = [Buffer.alloc(32, 1)]

describe('the binding', () => {
  const AT = NOW * 1000
  const cookie = 'abcdefghijklmnopqrst-_'
  const other = 'abcdefghijklmnopqrst__'
  const stamp = makeStamp(keys, 'flow', cookie, AT)

  test.each([
    [-60_001, false],
    [-60_000, true],
    [300_000, true],
    [300_001, false],
  ])('a redirect looked at %i ms after it began: %s', (age, isBound) => {
    expect(redirectStart(keys, cookie, stamp, AT + age)).toBe(isBound ? AT : undefined)
  })

  test.each<[what: string, cookie: string, stamp: string | undefined]>([
    ["another browser's cookie", other, stamp],
    ['no parameter', cookie, undefined],
    ['another time', cookie, stamp.replace(/^\d+/, String(AT - 1))],
    ['another MAC', cookie, stamp.slice(0, 14) + 'A'.repeat(22)],
    ['a stamp of another site', cookie, makeStamp([Buffer.alloc(32, 2)], 'flow', cookie, AT)],
  ])('%s does not bind', (_what, given, parameter) => {
    expect(redirectStart(keys, given, parameter, AT)).toBeUndefined()
  })

  test('no purpose stands in for another', () => {
    const purposes: Purpose[] = ['flow', 'marker', 'logout', 'device', 'doctor']
    const fits = purposes.map((made) =>
      purposes.filter((asked) => readStamp(keys, asked, 'x', makeStamp(keys, made, 'x', AT), AT, 0) !== undefined),
    )
    expect(fits).toEqual(purposes.map((purpose) => [purpose]))
  })

  const marker = makeStamp(keys, 'marker', '', AT)
  test.each<[what: string, parameter: string | undefined, age: number, counts: boolean]>([
    ['of now', marker, 0, true],
    ['61 s ago', marker, 61_000, false],
    ['by a process an hour ahead', marker, -3_600_000, true],
    ['that is missing', undefined, 0, false],
  ])('a marker %s counts as it should', (_what, parameter, age, counts) => {
    expect(readStamp(keys, 'marker', '', parameter, AT + age, 60_000) !== undefined).toBe(counts)
  })
})

describe('a signed cookie', () => {
  const otherKeys: MacKeys = [Buffer.alloc(32, 2)]
  const read = (text: string, by = keys) => readSigned(by, 'logout', text)
  const written = writeSigned(keys, 'logout', { name: 'Åse' })

  test('a cookie is read as it was written, and has only characters that a cookie may have', () => {
    expect(read(written)).toEqual({ name: 'Åse' })
    expect(written).toMatch(/^[\w-]+\.[\w-]{22}$/)
  })

  const [, mac = ''] = written.split('.')
  test.each<[what: string, text: string]>([
    ['an empty cookie', ''],
    ['another body', `${Buffer.from('{"name":"ada"}').toString('base64url')}.${mac}`],
    ['a further part', `${written}.x`],
    ['a cookie of another site', writeSigned(otherKeys, 'logout', { name: 'a' })],
  ])('%s is nothing', (_what, text) => {
    expect(read(text)).toBeUndefined()
  })

  test('while secrets are rotated an old cookie is read, and a new one has the first secret', () => {
    expect(read(written, [...otherKeys, ...keys])).toEqual({ name: 'Åse' })
    expect(read(writeSigned([...otherKeys, ...keys], 'logout', { name: 'a' }))).toBeUndefined()
  })
})

describe('the device cookie, and what login limits count', () => {
  const cookie = withDevice(keys, '', 'ada', NOW)

  test('[F3] a device cookie shows no name, and lasts 180 days', () => {
    expect(cookie).toMatch(/^\d+\.[\w-]{22}$/)
    expect(DEVICE_SECONDS).toBe(15_552_000)
  })

  test.each<[what: string, value: string, username: string, now: number, found: boolean]>([
    ['its own name', cookie, 'ada', NOW, true],
    ['the last second of 180 days', cookie, 'ada', NOW + DEVICE_SECONDS, true],
    ['later', cookie, 'ada', NOW + DEVICE_SECONDS + 1, false],
    ['another name', cookie, 'grace', NOW, false],
    ['a name that only looks alike', cookie, '\uff41da', NOW, false],
    ['a cut cookie', cookie.slice(0, -3), 'ada', NOW, false],
  ])('[F3, F13] a device cookie and %s', (_what, value, username, now, found) => {
    expect(isRecognised(keys, value, username, now)).toBe(found)
  })

  test('a login replaces the entry of its username', () => {
    const grace = withDevice(keys, '', 'grace', NOW)
    const twice = withDevice(keys, `${cookie}~${grace}`, 'ada', NOW + 5)
    expect(twice).toBe(`${withDevice(keys, '', 'ada', NOW + 5)}~${grace}`)
  })

  test('a browser keeps the last four usernames, each once', () => {
    let value = ''
    for (const name of ['a', 'b', 'c', 'b', 'd', 'e']) value = withDevice(keys, value, name, NOW)
    const kept = ['a', 'b', 'c', 'd', 'e'].filter((name) => isRecognised(keys, value, name, NOW))
    expect(kept).toEqual(['b', 'c', 'd', 'e'])
    expect(value.split('~')).toHaveLength(4)
  })

  /** Spellings of one username, by the name. */
  const spellings: Record<string, string[]> = {
    grace: [
      ...['GRACE', ' grace\t', 'gr\u00e0ce', 'gra\u0300ce', 'gra\u200bce', '\uff27race'],
      ...['g\u00adrace', '\ufeffgrace\u2060', 'grace\u{e0041}', 'gra\u115fce', '\u3164grace\u{e0000}', 'gra\ufe0fce'],
    ],
    eve: ['\u{1d404}ve', 'e\u0001v\u{1f174}'],
    'ada@demo.example': ['ada@demo.example', 'a\u0111a@dem\u00f8.example'],
    'aess.i1\u043e\u03c3\u03b1': ['\u00c6\u00df.\u0131\u0661\u043e\u03a3\u03b1', 'aess.I\u0967\u041e\u03c2\u03b1'],
    '5\u20ac': ['\uff15\u20ac'],
    '': ['\u200b'],
  }
  const names = Object.entries(spellings).flatMap(([normalised, all]) => all.map((name) => [name, normalised] as const))
  test.each(names)('[F16] the normalised username of %j is %j', (name, normalised) => {
    expect(normalisedUsername(name)).toBe(normalised)
  })
})

describe('the doctor', () => {
  const signature = makeDoctorSignature(keys, NOW)

  test.each<[name: string, value: string | undefined, now: number, mayAsk: boolean]>([
    ['the signature', signature, NOW, true],
    ['the signature, later', signature, NOW + 61, false],
  ])('a request with %s may ask: %#', (_name, value, now, mayAsk) => {
    expect(isDoctorSignature(keys, value, now)).toBe(mayAsk)
  })

  test('two releases understand each other: the signature binds nothing, and its header has one name', () => {
    expect(DOCTOR_HEADER).toBe('x-sso2-doctor')
    expect(signature).toBe(makeStamp(keys, 'doctor', '', NOW * 1000))
  })

  const report = {
    clientId: 'the-site',
    siteUrl: 'https://news.example',
    sso: 'ok',
    store: 'unavailable',
    forwardedFor: '',
    proxyHeaders: ['via'],
    trustedHops: 1,
    hopsTrustedUnseen: 1,
    isEncrypted: true,
  }

  test('a report is read whole, and one that says anything else is not', () => {
    expect(siteReport.parse(report)).toEqual({ ...report, isLocalSocket: false, hasVisitorAddress: true })
    for (const name of Object.keys(report))
      expect(siteReport.safeParse({ ...report, [name]: null }).success).toBe(false)
    expect(siteReport.safeParse({ ...report, sso: 'perhaps' }).success).toBe(false)
  })
})
