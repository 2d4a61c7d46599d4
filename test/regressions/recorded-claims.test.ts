import { parseRecord, RECORDED_CLAIMS, type SsoRecord } from '../../lib/decide/record'
import { loggedInBrowserAt, type RunningSite, startSite } from './support'

/* A claim of RECORDED_CLAIMS is in the record of a login, and each response about the login renews it. `iat` plays such a claim. */

let setup: RunningSite
beforeEach(async () => {
  Reflect.set(RECORDED_CLAIMS, 'iat', Number.isSafeInteger)
  setup = await startSite()
})
afterEach(async () => {
  Reflect.deleteProperty(RECORDED_CLAIMS, 'iat')
  await setup.close()
})

/** The records of all logins, with members that the type does not know. */
async function loginRecords(): Promise<readonly (SsoRecord & { readonly iat?: number })[]> {
  const keys = await setup.redis.keys(`${setup.prefix}sso2:*`)
  const records = await Promise.all(keys.map(async (key) => parseRecord(await setup.redis.get(key))))
  return records.flatMap((record) => (record?.status === 'loggedin' ? [record] : []))
}

test('a login records the claim, and a status check that changes nothing else renews it; an anonymous session has none', async () => {
  await setup.browser().visit(`${setup.url}/`)
  const [key = ''] = await setup.redis.keys(`${setup.prefix}sso2:*`)
  expect(JSON.parse((await setup.redis.get(key)) ?? '')).not.toHaveProperty('iat')

  const browser = await loggedInBrowserAt(setup)
  const [first] = await loginRecords()
  expect(first?.iat).toBeGreaterThanOrEqual(first?.since ?? Number.NaN)
  expect(first?.iat).toBeLessThanOrEqual(first?.checkedAt ?? Number.NaN)
  setup.emulator.clock.advance(361)
  await browser.visit(`${setup.url}/`)
  const [second] = await loginRecords()
  expect(setup.countCalls('sessionstatus')).toBe(1)
  expect(second?.iat).toBeGreaterThanOrEqual((first?.iat ?? Number.NaN) + 361)
  expect(second?.iat).toBeLessThanOrEqual(second?.checkedAt ?? Number.NaN)
})
