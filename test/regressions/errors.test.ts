import { Sso2ConfigError, Sso2Error, type Sso2Options, Sso2UnavailableError, sso2 } from '../../lib'
import { ada } from '../flows/network'
import type { TestRedis } from '../support/redis'
import { reader, refuseWrites, type Stage, startStageAlone, withPages } from './support'

const checkPage = withPages((app) => {
  app.get('/check', (req, res, next) => {
    const told = (error: unknown) => ({
      isOurs: error instanceof Sso2UnavailableError && error instanceof Sso2Error,
      code: error instanceof Sso2Error && error.code,
      operation: error instanceof Sso2UnavailableError && error.operation,
    })
    req.sso2
      .check()
      .then(
        (status) => res.json({ status }),
        (error: unknown) => res.json(told(error)),
      )
      .catch(next)
  })
})

describe('[S14, O17] req.sso2.check() of a reader', () => {
  let stage: Stage
  let own: TestRedis
  beforeEach(async () => {
    ;({ stage, own } = await startStageAlone({ build: checkPage }))
  })
  afterEach(async () => {
    await stage.close()
    await own.stop()
  })

  const outages: [string, () => Promise<unknown>][] = [
    ['takes no writes', () => refuseWrites(stage.redis)],
    ['is gone', () => own.stop()],
    ['hangs', async () => own.hang()],
  ]
  test.each(outages)('while Redis %s throws an error with class, code and operation', async (_what, end) => {
    const browser = await reader(stage)
    expect((await browser.fetchJson(`${stage.url}/check`)).json).toEqual({ status: 'loggedin' })
    await end()
    const { status, json } = await browser.fetchJson(`${stage.url}/check`)
    expect({ status, json }).toEqual({
      status: 200,
      json: { isOurs: true, code: 'ERR_SSO2_UNAVAILABLE', operation: 'store' },
    })
  })
})

describe('a configuration with hooks of the wrong type', () => {
  const secret = 'canary-secret-0123456789-abcdefghijkl'
  const good = {
    ssoUrl: 'https://sso.example',
    apiUrl: 'https://api.example',
    tokenUrl: 'https://login.example/token',
    siteUrl: 'https://news.example',
    clientId: 'the-site',
    clientSecret: secret,
    organisationId: 'the-publisher',
    sessionSecret: `${secret}-of-the-session`,
  }

  /** First words of the options that are wrong. */
  function wrongOptions(options: object): string[] {
    try {
      const made = sso2({ ...good, ...options } as Sso2Options)
      made.close().catch(() => {})
      return []
    } catch (error) {
      if (!(error instanceof Sso2ConfigError)) throw error
      expect(error.message).not.toContain(secret)
      return [...new Set(error.problems.map(({ option }) => String(option.split('.')[0])))].sort()
    }
  }

  test.each(['exchangeTicket', 'loadUser', 'shouldIdentify'])('names %s beside the other problems', (hook) => {
    for (const value of ['a text', 5, {}, true, [], `${secret}-as-a-hook`])
      expect(wrongOptions({ [hook]: value, ssoUrl: 'no address', recheckSeconds: 0 })).toEqual(
        [hook, 'recheckSeconds', 'ssoUrl'].sort(),
      )
  })

  test('names all of them at once', () => {
    const hooks = { exchangeTicket: 'a', loadUser: 1, shouldIdentify: true }
    const rest = { siteUrl: undefined, clientSecret: 'short', organisationId: 'the-site' }
    expect(wrongOptions({ ...hooks, ...rest })).toEqual(
      [...Object.keys(hooks), 'clientSecret', 'organisationId', 'siteUrl'].sort(),
    )
  })

  test.each<[string, object]>([
    ['views that are a text', { views: 'a text' }],
    ['a view that is a text', { views: { problem: '<p>wrong</p>' } }],
    ['texts that are a number', { texts: 5 }],
    ['a text that is a function', { texts: { invalid_credentials: () => '' } }],
    ['a logger that is a function', { logger: () => {} }],
    ['a logger without info', { logger: { warn: () => {} } }],
    ['a logger that warns with a text', { logger: { warn: 'a text', info: () => {} } }],
  ])('names %s beside the other problems', (_what, wrong) => {
    expect(wrongOptions({ ...wrong, ssoUrl: 'no address' })).toEqual([...Object.keys(wrong), 'ssoUrl'].sort())
  })

  test('is taken where they are right', () => {
    const views = { problem: () => 'a problem', login: async () => 'a form' }
    const hooks = { loadUser: () => ({ accountId: 'a' }), shouldIdentify: () => true }
    const logger = { warn: () => {}, info: () => {} }
    expect(wrongOptions({ ...hooks, views, logger, texts: { invalid_credentials: 'Wrong.' } })).toEqual([])
  })
})

const CANARY = 'canary-secret-of-a-hook'
type Hook = 'exchangeTicket' | 'loadUser'
type Support = typeof import('./support')

/** Doors through which a user is named; each gives the step that does it. */
const doors: Record<string, (support: Support, stage: Stage) => Promise<() => Promise<unknown>>> = {
  'a landing': async (support, stage) => {
    const browser = await support.reader(stage)
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    return () => browser.visit(`${stage.url}/`)
  },
  'a login': async (_support, stage) => {
    const browser = stage.browser()
    await browser.visit(`${stage.url}/`)
    return () => browser.fetchJson(`${stage.url}/login`, { json: ada })
  },
  'a check': async (support, stage) => {
    const browser = await support.reader(stage)
    stage.emulator.clock.advance(361) // the access token is over too: the answer brings a ticket
    return () => browser.fetchJson(`${stage.url}/`)
  },
}

/** The hooks that are to fail, and how often one did. */
interface Broken {
  readonly hooks: Set<Hook>
  failures: number
}

/** A stage of modules that have warned of nothing yet, and what makes one of its hooks fail. */
async function withHooks(run: (support: Support, stage: Stage, broken: Broken) => Promise<void>) {
  await jest.isolateModulesAsync(async () => {
    const support = require('./support') as Support
    const { formExchange } = require('../../lib/remote/ticket') as typeof import('../../lib/remote/ticket')
    const broken: Broken = { hooks: new Set(), failures: 0 }
    const failIf = (hook: Hook) => {
      if (!broken.hooks.has(hook)) return
      broken.failures += 1
      throw new Error(`no luck with ${CANARY}`)
    }
    const endpoint = { tokenUrl: '', clientId: 'morning', clientSecret: () => '', ticketExchange: {} }
    const stage = await support.startStage({
      emulator: { limits: { accessTokenSeconds: 300 } },
      options: {
        exchangeTicket: (ticket, context) => {
          failIf('exchangeTicket')
          const { tokenUrl = '', clientSecret = '' } = stage.emulator.siteOptions('morning')
          return formExchange({ ...endpoint, tokenUrl, clientSecret: () => String(clientSecret) })(ticket, context)
        },
        loadUser: async ({ api }) => {
          failIf('loadUser')
          const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string; username: string } }
          return { ...item, accountId: item.account_id }
        },
      },
    })
    try {
      await run(support, stage, broken)
    } finally {
      await stage.close()
    }
  })
}

const failures = (['exchangeTicket', 'loadUser'] as const).flatMap((hook) =>
  Object.entries(doors).map(([door, open]) => ({ hook, door, open })),
)

test.each(failures)('[O12, O6] $door that fails in $hook leaves one line, which names it', async ({ hook, open }) => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  try {
    await withHooks(async (support, stage, broken) => {
      const step = await open(support, stage)
      const before = warn.mock.calls.length
      broken.hooks.add(hook)
      await step()
      expect(broken.failures).toBeGreaterThan(0)
      const lines = warn.mock.calls.slice(before).map((args) => args.join(' '))
      expect(lines.filter((line) => line.includes(hook))).toHaveLength(1)
      expect(lines.join('\n')).not.toContain(CANARY)
    })
  } finally {
    warn.mockRestore()
  }
})
