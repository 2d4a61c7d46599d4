import type { DegradedReason } from '../../lib/decide/identity'
import {
  blockReason,
  countReturn,
  type LoopCause,
  type ReturnCount,
  readReturnCount,
  returnCountSeconds,
} from '../../lib/decide/loop-guard'

/** The count after landings with these outcomes. */
const after = (...causes: LoopCause[]): ReturnCount | undefined =>
  causes.reduce<ReturnCount | undefined>((known, cause) => countReturn(known, cause), undefined)

test.each<[what: string, count: ReturnCount | undefined, reason: DegradedReason | undefined]>([
  ['no landing', undefined, undefined],
  ['one landing that went well', after(''), undefined],
  ['four landings that went well', after('', '', '', ''), undefined],
  ['five landings that went well: the session does not stay', after('', '', '', '', ''), 'identify_loop'],
  ['a refused token', after('token_refused'), 'token_refused'],
  ['a landing that Redis did not store', after('', 'store_unavailable'), 'store_unavailable'],
  ['a landing that ended a login of before the logout', after('logout_pending'), 'logout_pending'],
  ['too many landings of one address', after('identify_loop'), 'identify_loop'],
  ['a landing that went well after a refused token', after('token_refused', ''), undefined],
])('%s: another redirect, or the reason why not', (_what, count, reason) => {
  expect(blockReason(count)).toBe(reason)
})

test('no chain reaches the 20 redirects at which browsers give up, however its landings end', () => {
  const causes: LoopCause[] = ['', 'token_refused', 'store_unavailable', 'logout_pending']
  for (const cause of causes) {
    let [count, rounds]: [ReturnCount | undefined, number] = [undefined, 0]
    for (; blockReason(count) === undefined; rounds += 1) count = countReturn(count, cause)
    expect(rounds * 3).toBeLessThan(18)
  }
})

test('the browser forgets a count after 10 s, and a failure after 4 s', () => {
  expect([after(''), after('token_refused')].map((count) => count && returnCountSeconds(count))).toEqual([10, 4])
})

test('a count is read as it was written, and nothing else is one', () => {
  expect(readReturnCount({ ...after('', 'token_refused') })).toEqual({ count: 2, cause: 'token_refused' })
  for (const other of [{}, { count: '1', cause: '' }, { count: 1 }, { count: 1, cause: 'another' }])
    expect(readReturnCount(other)).toBeUndefined()
})
