import { makeStamp } from '../../lib/decide/binding'
import { DOCTOR_HEADER, isDoctorSignature, makeDoctorSignature, siteReport } from '../../lib/decide/doctor-protocol'
import { NOW } from './samples'

const keys = [Buffer.alloc(32, 1)]
const mark = makeDoctorSignature(keys, NOW)

test.each<[name: string, value: string | undefined, now: number, mayAsk: boolean]>([
  ['the mark', mark, NOW, true],
  ['the mark, later', mark, NOW + 61, false],
  ['the mark of another secret', makeDoctorSignature([Buffer.alloc(32, 2)], NOW), NOW, false],
  ['a mark for something else', makeStamp(keys, 'marker', '', NOW * 1000), NOW, false],
])('a request with %s may ask: %#', (_name, value, now, mayAsk) => {
  expect(isDoctorSignature(keys, value, now)).toBe(mayAsk)
})

test('two releases understand each other: the mark binds nothing, and its header has one name', () => {
  expect(DOCTOR_HEADER).toBe('x-sso2-doctor')
  expect(mark).toBe(makeStamp(keys, 'doctor', '', NOW * 1000))
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
  for (const name of Object.keys(report)) expect(siteReport.safeParse({ ...report, [name]: null }).success).toBe(false)
  expect(siteReport.safeParse({ ...report, sso: 'perhaps' }).success).toBe(false)
})
