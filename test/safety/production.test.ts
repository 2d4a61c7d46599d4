import { PlatformApi, Sso2Client, Sso2ConfigError, sso2 } from '../../lib'
import { createEmulator, type Emulator } from '../../lib/emulator'
import { redisUrl, sessionSecret } from '../flows/network'

let emulator: Emulator
const before = process.env['NODE_ENV']

beforeAll(async () => {
  emulator = createEmulator()
  await emulator.listen(0)
})
afterEach(() => {
  process.env['NODE_ENV'] = before
})
afterAll(() => emulator.close())

const about = { sid: 'nobodys', lks: 'anon', ipa: '127.0.0.1', uas: 'test' } as const

test('[O10] in production no answer of an emulator counts, on the back channel or from the REST API', async () => {
  const platform = emulator.siteOptions()
  const client = new Sso2Client({ ...platform, clock: emulator.clock })
  const api = new PlatformApi({ apiUrl: platform.apiUrl, accessToken: 'any' })
  expect(await client.sessionStatus(about)).toMatchObject({ err: 'session_not_found' })
  process.env['NODE_ENV'] = 'production'
  const refusal = expect.objectContaining({
    code: 'ERR_SSO2_RESPONSE',
    message: expect.stringContaining('this is the emulator, and NODE_ENV is production'),
  })
  await expect(client.sessionStatus(about)).rejects.toEqual(refusal)
  await expect(api.marketplaceGroups()).rejects.toEqual(refusal)
  client.close()
})

test('[O10] in production the secrets that the emulator publishes are refused, and not quoted', () => {
  process.env['NODE_ENV'] = 'production'
  const { clientSecret } = emulator.siteOptions()
  const address = 'https://news.example'
  const options = { ssoUrl: address, siteUrl: address, apiUrl: address, tokenUrl: address, redis: redisUrl() }
  const ids = { clientId: 'news', organisationId: 'press' }
  let problem: unknown
  try {
    sso2({ ...options, ...ids, sessionSecret, clientSecret })
  } catch (error) {
    problem = error
  }
  expect(problem).toBeInstanceOf(Sso2ConfigError)
  expect((problem as Sso2ConfigError).problems).toEqual([
    { option: 'clientSecret', variable: 'SSO2_CLIENT_SECRET', message: expect.stringContaining('published secret') },
  ])
  expect(String(problem)).not.toContain(clientSecret)
})
