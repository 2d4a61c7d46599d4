import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { ada, loggedInBrowser, redisUrl, sessionSecret, visitor } from '../flows/setup'
import { Browser } from '../support/agent'
import { freePort } from '../support/ports'

let emulator: Emulator
let child: ChildProcess
let url: string
/** What would have ended the process. */
const fatal: string[] = []

async function tell(message: object): Promise<void> {
  const answered = once(child, 'message')
  child.send(message)
  await answered
}
const misbehave = (modes: Record<string, string>) => tell({ modes })

beforeAll(async () => {
  const port = await freePort()
  url = `http://localhost:${port}`
  const client = { clientId: 'morning', clientSecret: 'a-client-secret-of-the-morning-paper-0123456789' }
  const clients = [{ ...client, landingPage: `${url}/sso2/landing` }]
  emulator = createEmulator(demoOptions({ clients, tokenTime: 'real', limits: { sessionsPerAccount: 10_000 } }))
  await emulator.listen(0)
  child = fork(join(__dirname, 'operation-hooks.cjs'), { env: { PATH: process.env['PATH'] }, silent: true })
  for (const stream of [child.stdout, child.stderr]) stream?.resume()
  child.on('message', (message: { fatal?: string }) => {
    if (message.fatal) fatal.push(message.fatal)
  })
  const session = { prefix: `hooks-${port}:` }
  const options = {
    ...emulator.siteOptions(),
    siteUrl: url,
    redis: redisUrl(),
    sessionSecret,
    loginLimit: false,
    session,
  }
  await tell({ options, port })
})
afterEach(async () => {
  await misbehave({})
  expect(fatal.splice(0)).toEqual([])
  expect(await shown('/alive')).toMatchObject({ status: 200 })
})
afterAll(async () => {
  child.disconnect()
  await emulator.close()
})

async function shown(path: string, browser = new Browser()) {
  const { status, body } = await browser.visit(`${url}${path}`)
  return { status, body }
}

const site = () => ({ morning: { url }, browser: () => new Browser() })
const aUser = () => loggedInBrowser(site())

const moods = ['throw', 'throw nothing', 'reject twice', 'give nothing']
const oddities = ['give a list', 'give an object', 'give a circle', 'give a throwing getter']
const naming = ['exchangeTicket', 'loadUser'].flatMap((hook) => [...moods, ...oddities].map((mood) => ({ hook, mood })))

test.each(naming)(
  '[O12] $hook that does "$mood" gives no login at landing or form, and the page is served',
  async ({ hook, mood }) => {
    const browser = await aUser()
    browser.dropCookies(({ name }) => name === 'sso2.sid')
    const second = await visitor(site())
    await misbehave({ [hook]: mood })
    const landed = await shown('/', browser)
    expect(landed).toEqual({ status: 200, body: JSON.stringify({ status: 'anon', degraded: 'user_unknown' }) })
    const { status, json } = await second.fetchJson(`${url}/login`, { json: ada })
    expect({ status, json }).toEqual({ status: 503, json: { error: 'unavailable' } })
  },
)

test.each([...moods, ...oddities])('[O12] shouldIdentify that does "%s" ends in an answer', async (mood) => {
  const browser = await aUser()
  await misbehave({ shouldIdentify: mood })
  expect((await shown('/', browser)).body).toContain('"loggedin"')
  const visitor = await shown('/')
  expect([200, 500]).toContain(visitor.status)
  expect(visitor.body).not.toContain('"loggedin"')
})

const pages = [
  { view: 'login', path: '/login', status: 200 },
  { view: 'confirmLogout', path: '/logout', status: 200 },
  { view: 'problem', path: '/sso2/landing', status: 400 },
]
const broken = ['throw', 'throw nothing', 'reject twice']
/** A view that fails is an error for the site's own handler, but for the page of problems, which is the built-in one then. */
function statusWith(mood: string, { view, status }: (typeof pages)[number]): unknown {
  if (view === 'problem') return status
  return broken.includes(mood) ? 500 : status
}
const views = pages.flatMap((page) => moods.map((mood) => ({ ...page, mood, status: statusWith(mood, page) })))

test.each(views)('[O12] the view $view that does "$mood" ends in an answer', async ({ view, path, mood, status }) => {
  const browser = await visitor(site())
  await misbehave({ [view]: mood })
  const answer = await shown(path, browser)
  expect(answer.status).toEqual(status)
  expect(answer.body).not.toContain('"loggedin"')
  expect((await shown('/', browser)).body).toContain('"anon"')
})

/** A hook is given eight seconds, and a busy machine some more. Two in a row would be sixteen. */
const BOUND_MS = 13_000

test('[O12] hooks that never settle hold no request longer than their bound', async () => {
  const landing = await aUser()
  landing.dropCookies(({ name }) => name === 'sso2.sid')
  const form = await visitor(site())
  const logout = await visitor(site())
  const never = 'never settle'
  await misbehave({ exchangeTicket: never, confirmLogout: never, problem: never, shouldIdentify: never })
  const inTime = (name: string, run: Promise<{ status: number }>) =>
    Promise.race([
      run.then(({ status }) => `${name}: answered ${status < 600}`),
      new Promise<string>((resolve) => setTimeout(resolve, BOUND_MS, `${name}: still waiting`)),
    ])
  const outcomes = await Promise.all([
    inTime('landing', landing.visit(`${url}/`)),
    inTime('form', form.fetchJson(`${url}/login`, { json: ada })),
    inTime('view', logout.visit(`${url}/logout`)),
    inTime('problem', logout.visit(`${url}/sso2/landing`)),
    inTime('page', logout.visit(`${url}/page`)),
  ])
  expect(outcomes).toEqual(['landing', 'form', 'view', 'problem', 'page'].map((name) => `${name}: answered true`))
})
