import { nextStatus, TRANSITIONS } from '../../lib/emulator/platform/machine'

/* The transition table against the rows of the specification, one by one. */

test.each([
  ['anon', 'identify', 'anon'],
  ['anon', 'accepted', 'loggedin'],
  ['anon', 'rejected', 'anon'],
  ['anon', 'logout', 'terminated'],
  ['anon', 'logout_all', undefined],
  ['loggedin', 'identify', 'loggedin'],
  ['loggedin', 'accepted', 'loggedin'],
  ['loggedin', 'rejected', 'loggedin'],
  ['loggedin', 'logout', 'terminated'],
  ['loggedin', 'logout_all', 'terminated'],
  ['terminated', 'identify', undefined],
  ['terminated', 'accepted', undefined],
  ['terminated', 'rejected', undefined],
  ['terminated', 'logout', 'terminated'],
  ['terminated', 'logout_all', undefined],
] as const)('%s, %s: %s', (status, trigger, expected) => {
  expect(nextStatus(status, trigger)).toBe(expected)
})

test('nothing leaves terminated', () => {
  expect(new Set(Object.values(TRANSITIONS.terminated))).toEqual(new Set(['terminated']))
})
