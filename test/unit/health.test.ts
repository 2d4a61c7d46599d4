import { type HealthFacts, healthOf } from '../../lib/decide/health'

const well: HealthFacts = {
  isSsoAvailable: true,
  storeReason: undefined,
  canLogIn: true,
  clockOffsetSeconds: undefined,
  clockToleranceSeconds: 5,
}
const refused = { storeReason: 'writes refused: OOM' }
const report = { ok: true, sso: 'ok', store: 'ok', login: 'ok', clockOffsetSeconds: undefined }

// one for each row of the table in docs/internals/decision-tables.md, "Health"
test.each<[name: string, facts: Partial<HealthFacts>, expected: object]>([
  ['all is well', {}, {}],
  ['the SSO system or Identify is away', { isSsoAvailable: false }, { ok: false, sso: 'unavailable' }],
  ['Redis refuses writes', refused, { ok: false, store: 'unavailable', ...refused }],
  ['no user could log in', { canLogIn: false }, { ok: false, login: 'unavailable' }],
  ['the clock is as far off as it may be', { clockOffsetSeconds: 5 }, { clockOffsetSeconds: 5 }],
  ['the same, behind', { clockOffsetSeconds: -5 }, { clockOffsetSeconds: -5 }],
  ['the clock is ahead', { clockOffsetSeconds: 6 }, { ok: false, clockOffsetSeconds: 6 }],
  ['the clock is ten minutes behind', { clockOffsetSeconds: -600 }, { ok: false, clockOffsetSeconds: -600 }],
])('%s', (_name, facts, expected) => {
  expect(healthOf({ ...well, ...facts })).toStrictEqual({ ...report, ...expected })
})
