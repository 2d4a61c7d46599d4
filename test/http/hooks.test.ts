import type { Request } from 'express'
import type { ExchangeContext, LoadUserContext, Sso2Options } from '../../lib'
import { loggerTo } from '../support/log-lines'
import { exchange } from '../support/pausable-setup'
import { ada, loggedInBrowser, type Setup, useSetup, view, visitor } from '../support/setup'
import { loggedInBrowserAt, startSite, withPages } from '../support/site'
import { timed } from '../support/wait'

/* Hooks that misbehave as they are told. What would end the process fails the test that it happens in: Jest sees to that by itself. */

const moods: Readonly<Record<string, () => unknown>> = {
  throw: () => {
    throw new Error('a hook threw')
  },
  reject: () => Promise.reject(new Error('a hook rejected')),
  'never settle': () => new Promise(() => {}),
  'give nothing': () => undefined,
  'give an object': () => ({}),
  'give a throwing getter': () => ({
    get accountId() {
      throw new Error('a getter threw')
    },
    toJSON() {
      throw new Error('toJSON threw')
    },
  }),
}

/** What each hook does now; the rest do their work. */
let modes: Record<string, string> = {}

const hook =
  <Given extends unknown[]>(name: string, work: (...given: Given) => unknown) =>
  (...given: Given) => {
    const mood = moods[modes[name] ?? '']
    return (mood ? mood() : work(...given)) as never
  }

const at = (path: string) => `${setup.morning.url}${path}`

const setup: Setup = useSetup({
  site: {
    exchangeTicket: hook('exchangeTicket', (ticket: string, context: ExchangeContext) =>
      exchange(setup, ticket, context),
    ),
    loadUser: hook('loadUser', async ({ api }: LoadUserContext) => {
      const { item } = (await api.get('/external/api/v1/me')) as { item: { account_id: string } }
      return { accountId: item.account_id }
    }),
    shouldIdentify: hook('shouldIdentify', ({ headers }: Request) => headers['sec-fetch-dest'] === 'document'),
    views: {
      login: hook('login', () => 'the login form'),
      confirmLogout: hook('confirmLogout', () => 'the logout form'),
      problem: hook('problem', () => 'a problem'),
    },
  },
})
afterEach(async () => {
  modes = {}
  expect(await setup.browser().visit(at('/alive'))).toMatchObject({ status: 200 })
})

const common = ['throw', 'reject', 'give nothing']
const oddities = ['give an object', 'give a throwing getter']
const naming = ['exchangeTicket', 'loadUser'].flatMap((name) =>
  [...common, ...oddities].map((mood) => ({ name, mood })),
)

test.each(naming)(
  '[O12] $name that does "$mood" gives no login at landing or form, and the page is served',
  async ({ name, mood }) => {
    const browser = await loggedInBrowser(setup)
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    const second = await visitor(setup)
    modes = { [name]: mood }
    const landed = await browser.visit(at('/'))
    expect([landed.status, view(landed)]).toEqual([200, { status: 'anon', degraded: 'user_unknown', url: '/' }])
    const { status, json } = await second.fetchJson(at('/login'), { json: ada })
    expect({ status, json }).toEqual({ status: 503, json: { error: 'unavailable' } })
  },
)

const noAccount = (found: string) => new RegExp(`loaded: loadUser: accountId: a text is required, not ${found}`)
const quote = async (...given: unknown[]): Promise<never> => {
  throw new Error(`The quote of ${given.join(', ')}.`)
}
test.each<[what: string, hooks: Partial<Sso2Options>, line: RegExp]>([
  ['loadUser gives no user', { loadUser: () => undefined as never }, noAccount('undefined')],
  ['loadUser gives an empty ID', { loadUser: () => ({ accountId: '' }) }, noAccount('an empty text')],
  ['loadUser gives a number', { loadUser: () => ({ accountId: 7 as never }) }, noAccount('number')],
  [
    'loadUser quotes',
    { loadUser: ({ accessToken, sid }) => quote(accessToken, sid) },
    /loaded: loadUser: Error: The quote of \*{3}, \*{3}\./,
  ],
  [
    'exchangeTicket quotes',
    { exchangeTicket: (at, { sid, signal }) => quote(at, sid, signal?.aborted) },
    /exchanged: exchangeTicket: Error: The quote of \*{3}, \*{3}, false\./,
  ],
])('[O6] %s: one log line names the step and the cause, and no secret', async (_what, options, line) => {
  const lines: string[] = []
  const setup = await startSite({ options: { ...options, logger: loggerTo(lines) } })
  const browser = setup.browser()
  await browser.visit(`${setup.url}/`)
  const { status } = await browser.fetchJson(`${setup.url}/login`, { json: ada })
  await setup.close()
  expect([status, lines]).toEqual([503, [expect.stringMatching(line)]])
})

test.each([...common, ...oddities])('[O12] shouldIdentify that does "%s" ends in an answer', async (mood) => {
  const browser = await loggedInBrowser(setup)
  modes = { shouldIdentify: mood }
  expect((await browser.visit(at('/'))).body).toContain('"loggedin"')
  const visit = await setup.browser().visit(at('/'))
  expect([200, 500]).toContain(visit.status)
  expect(visit.trail.length > 1).toBe(oddities.includes(mood)) // an object is a yes
  expect(visit.body).not.toContain('"loggedin"')
})

const pages = [
  { name: 'login', path: '/login', status: 200 },
  { name: 'confirmLogout', path: '/logout', status: 200 },
  { name: 'problem', path: '/sso2/landing', status: 400 },
]
const broken = ['throw', 'reject']
/** A view that fails is an error for the site's own handler, but for the page of problems, which is the built-in one then. */
const statusWith = (mood: string, { name, status }: (typeof pages)[number]) =>
  name !== 'problem' && broken.includes(mood) ? 500 : status
const views = pages.flatMap((page) => common.map((mood) => ({ ...page, mood, status: statusWith(mood, page) })))

test.each(views)('[O12] the view $name that does "$mood" ends in an answer', async ({ name, path, mood, status }) => {
  const browser = await visitor(setup)
  modes = { [name]: mood }
  const answer = await browser.visit(at(path))
  expect(answer.status).toEqual(status)
  expect(answer.body).not.toContain('"loggedin"')
  expect((await browser.visit(at('/'))).body).toContain('"anon"')
})

/** A hook is given eight seconds, and a busy machine some more. Two in a row would be sixteen. */
const BOUND_MS = 13_000

test('[O12] hooks that never settle hold no request longer than their bound', async () => {
  const landing = await loggedInBrowser(setup)
  landing.dropCookies(({ name }) => name === 'sso2.sid')
  const form = await visitor(setup)
  const logout = await visitor(setup)
  const never = 'never settle'
  modes = { exchangeTicket: never, confirmLogout: never, problem: never, shouldIdentify: never }
  const inTime = async (name: string, run: Promise<{ status: number }>) => {
    const [{ status }, ms] = await timed(() => run)
    return ms < BOUND_MS ? `${name}: answered ${status < 600}` : `${name}: waited for ${ms} ms`
  }
  const outcomes = await Promise.all([
    inTime('landing', landing.visit(at('/'))),
    inTime('form', form.fetchJson(at('/login'), { json: ada })),
    inTime('view', logout.visit(at('/logout'))),
    inTime('problem', logout.visit(at('/sso2/landing'))),
    inTime('page', logout.visit(at('/page'))),
    inTime('first visit', setup.browser().visit(at('/'))),
  ])
  const names = ['landing', 'form', 'view', 'problem', 'page', 'first visit']
  expect(outcomes).toEqual(names.map((name) => `${name}: answered true`))
})

test('loadUser: its user has a field named __proto__ → the field is dropped, and no copy of the user inherits from it', async () => {
  const user = '{"accountId":"account-ada","__proto__":{"isAdmin":true},"plan":{"__proto__":{"isPaid":true}}}'
  const copies = withPages((app) => {
    app.get('/copy', (req, res) => {
      const copy = Object.assign({}, req.sso2.user, Reflect.get(req.sso2.user ?? {}, 'plan'))
      res.json([Reflect.ownKeys(req.sso2.user ?? {}), 'isAdmin' in copy, 'isPaid' in copy])
    })
  })
  const setup = await startSite({ build: copies, options: { loadUser: async () => JSON.parse(user) } })
  const browser = await loggedInBrowserAt(setup)
  const { json } = await browser.fetchJson(`${setup.url}/copy`)
  await setup.close()
  expect(json).toEqual([['accountId', 'plan'], false, false])
})
