import { CALLS_KEPT, type Call, CallLog, claimsForLog } from '../../lib/emulator/platform/calls'

const call = (sid: string): Call => ({
  at: 1,
  operation: 'logout',
  clientId: 'c',
  sid,
  claims: {},
  outcome: 'terminated',
})

test('the log keeps the latest calls only', () => {
  const log = new CallLog()
  for (let n = 0; n < 2 * CALLS_KEPT + 5; n += 1) log.add(call(String(n)))
  const kept = log.list()
  expect([kept.length, kept[0]?.sid, kept.at(-1)?.sid]).toEqual([
    CALLS_KEPT,
    String(CALLS_KEPT + 5),
    String(2 * CALLS_KEPT + 4),
  ])
  expect(log.latest(1)).toEqual([{ call: call(String(2 * CALLS_KEPT + 4)), number: 2 * CALLS_KEPT + 5 }])
})

test('it counts its calls from the newest, and is empty when it is cleared', () => {
  const log = new CallLog()
  expect(log.list()).toEqual([])
  for (const sid of ['s1', 's2', 's3']) log.add(call(sid))
  expect(log.latest(2)).toEqual([
    { call: call('s3'), number: 3 },
    { call: call('s2'), number: 2 },
  ])
  log.clear()
  log.add(call('s4'))
  expect(log.latest(2)).toEqual([{ call: call('s4'), number: 1 }])
})

test('claims are made fit for the log', () => {
  expect(claimsForLog({ sid: true, lks: null, aid: undefined })).toEqual({ sid: true, lks: null, aid: '[undefined]' })
  const claims = {
    pwd: 'secret',
    usr: 'u'.repeat(1000),
    lks: ['anon'],
    sid: { a: 1 },
    exp: 7,
    at: 'ticket',
    other: 'x',
  }
  expect(claimsForLog(claims)).toEqual({ pwd: '***', usr: 'u'.repeat(300), lks: '[array]', sid: '[object]', exp: 7 })
})

test.each(['cid', 'nbf', 'iat', 'exp', 'iss', 'aud', 'sid', 'aid', 'usr', 'ipa', 'uas', 'lks'])(
  'the claim %s is in the log, as a text, a number or null',
  (name) => {
    for (const value of ['a text', 1700000000, null]) expect(claimsForLog({ [name]: value })).toEqual({ [name]: value })
  },
)
