import type { SsoRecord } from '../../lib/decide/record'
import { isAccessTokenExpired, mayStillBeRenewed } from '../../lib/decide/record'
import { loggedInRecord, NOW } from './samples'

test.each<[accessUntil: number | undefined, over: boolean]>([
  [undefined, false],
  [NOW + 1, false],
  [NOW, true],
  [NOW - 1, true],
])('an access token that ends at %s is over: %s', (accessUntil, over) => {
  expect(isAccessTokenExpired(loggedInRecord(accessUntil === undefined ? {} : { accessUntil }), NOW)).toBe(over)
})

const asking = loggedInRecord({ askingAt: NOW })
test.each<[name: string, record: SsoRecord | undefined, waitedMs: number, may: boolean]>([
  ['nobody asks yet', loggedInRecord(), 499, true],
  ['nobody has asked', loggedInRecord(), 500, false],
  ['there is no record yet', undefined, 499, true],
  ['there is no record', undefined, 500, false],
  ['somebody asks', asking, 500, true],
  ['somebody asks for long', asking, 8000, true],
  ['somebody asks for too long', asking, 8001, false],
])('where %s another access token may still come: %#', (_name, record, waitedMs, may) => {
  expect(mayStillBeRenewed(record, waitedMs)).toBe(may)
})
