import { storeUnavailable } from '../../lib/storage/site-store'
import { health } from '../../lib/web/health'
import type { Site } from '../../lib/web/site'

const well = {
  isSsoAvailable: true,
  storeReason: undefined as string | undefined,
  canLogIn: true,
  clockOffsetSeconds: undefined as number | undefined,
  clockToleranceSeconds: 5,
}
type Facts = typeof well

/** The parts of a site that its health is read from. */
const siteOf = ({ isSsoAvailable, storeReason, canLogIn, clockOffsetSeconds, clockToleranceSeconds }: Facts) => ({
  client: { clockOffsetSeconds },
  config: { clockToleranceSeconds },
  identifyHealth: { isAvailable: isSsoAvailable },
  loginHealth: { isAvailable: canLogIn },
  records: {
    kv: { failure: storeReason, probe: async () => storeReason && Promise.reject(storeUnavailable()) },
  },
})
const refused = { storeReason: 'OOM' }
const report = { ok: true, sso: 'ok', store: 'ok', login: 'ok', clockOffsetSeconds: undefined }

// one for each row of the table in docs/internals/decision-tables.md, "Health"
test.each<[name: string, facts: Partial<Facts>, expected: object]>([
  ['all is well', {}, {}],
  ['the SSO system or Identify is away', { isSsoAvailable: false }, { ok: false, sso: 'unavailable' }],
  ['Redis refuses writes', refused, { ok: false, store: 'unavailable', ...refused }],
  ['no user could log in', { canLogIn: false }, { ok: false, login: 'unavailable' }],
  ['the clock is as far off as it may be', { clockOffsetSeconds: 5 }, { clockOffsetSeconds: 5 }],
  ['the clock is ten minutes behind', { clockOffsetSeconds: -600 }, { ok: false, clockOffsetSeconds: -600 }],
])('%s', async (_name, facts, expected) => {
  const site = siteOf({ ...well, ...facts }) as unknown as Site
  expect(await health(site)).toStrictEqual({ ...report, ...expected })
})
