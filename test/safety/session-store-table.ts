/** What may stand where a record should: from another version, another program, or half written. `GOOD` is the record itself. */
export const foreignRecords: readonly (readonly [string, (good: string) => string])[] = [
  ['nothing but spaces', () => '   '],
  ['an empty text', () => ''],
  ['a word', () => 'garbage'],
  ['bytes that are no text', () => '\ufffd\u0000\u0001'],
  ['an open brace', () => '{'],
  ['a record cut in the middle', (good) => good.slice(0, good.length / 2)],
  ['a record without its last brace', (good) => good.slice(0, -1)],
  ['a record twice', (good) => good + good],
  ['a list', (good) => `[${good}]`],
  ['null', () => 'null'],
  ['a number', () => '42'],
  ['an empty object', () => '{}'],
  ['a version after the next', (good) => edit(good, { v: 3 })],
  ['the version as text', (good) => edit(good, { v: '1' })],
  ['no version', (good) => edit(good, { v: undefined })],
  ['another status', (good) => edit(good, { status: 'admin' })],
  ['the status "terminated"', (good) => edit(good, { status: 'terminated' })],
  ['the status of every object', (good) => edit(good, { status: 'constructor' })],
  ['no user', (good) => edit(good, { user: undefined })],
  ['a user that is null', (good) => edit(good, { user: null })],
  ['a user that is a list', (good) => edit(good, { user: ['ada'] })],
  ['a user without accountId', (good) => edit(good, { user: { name: 'Ada' } })],
  ['a user with a number as accountId', (good) => edit(good, { user: { accountId: 1 } })],
  ['a time as text', (good) => edit(good, { checkedAt: '2100-01-01' })],
  ['a time with a fraction', (good) => edit(good, { since: 1.5 })],
  ['a time without end', (good) => good.replace(/"checkedAt":\d+/, '"checkedAt":1e400')],
  ['a box that is a number', (good) => edit(good, { box: 7 })],
  ['no box', (good) => edit(good, { box: undefined })],
  ['__proto__ with a status', (good) => `{"__proto__":${good}}`],
  ['a session of express-session', () => '{"cookie":{"originalMaxAge":null,"path":"/"},"user":"ada"}'],
]

/** What may stand where the site's own data should. */
export const foreignData: readonly (readonly [string, string])[] = [
  ['an empty text', ''],
  ['garbage', 'garbage'],
  ['a cut object', '{"cookie":{"since":17'],
  ['null', 'null'],
  ['a number', '42'],
  ['a list', '[1,2]'],
  ['an object without cookie', '{"saved":"x"}'],
  ['a cookie that is null', '{"cookie":null,"saved":"x"}'],
  ['a cookie of another program', '{"cookie":{"originalMaxAge":1000,"expires":"2099-01-01"},"saved":"x"}'],
  ['a cookie with its time as text', '{"cookie":{"since":"now"},"saved":"x"}'],
  ['__proto__', '{"cookie":{"since":1},"__proto__":{"polluted":true},"saved":"x"}'],
]

function edit(record: string, changes: object): string {
  return JSON.stringify({ ...JSON.parse(record), ...changes })
}
