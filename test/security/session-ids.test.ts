import { promisify } from 'node:util'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { signedId } from '../support/raw'
import { ada, grace, logInAtLast, present, useSetup, view, viewOf, visitor } from '../support/setup'
import { withPages } from '../support/site'

/* Every change of user gives a new session ID, the old one is worth nothing, and nothing of one account reaches the next. */

const setup = useSetup({
  build: withPages((app) => {
    app.get('/regenerate', async (req, res) => {
      const call = (name: 'regenerate' | 'save' | 'reload') =>
        promisify((done: (error?: unknown) => void) => req.session[name](done))()
      await call('regenerate')
      await call('regenerate')
      req.session.saved = 'kept'
      await call('save')
      await call('reload')
      res.json(viewOf(req))
    })
  }) as never,
})
let browser: Browser
const at = (path: string) => `${setup.morning.url}${path}`
const evening = (path: string) => `${setup.evening.url}${path}`
const cookie = () =>
  present(browser.cookies.find(({ name, host }) => name === 'sso2.sid' && host === 'morning.localhost'))
const id = () => cookie().value

beforeEach(async () => {
  setup.emulator.reset()
  browser = await visitor(setup)
})

/** A browser that sends this cookie has no user, and gets no session by it. */
async function expectWorthless(cookie: string): Promise<void> {
  const other = setup.browser()
  const answer = await other.fetchJson(at('/save-nothing'), { headers: { cookie: `sso2.sid=${cookie}` } })
  expect(answer.json).toEqual({ status: 'none', url: '/save-nothing' })
  const key = `${setup.morning.prefix}sso2:{${sessionKey(decodeURIComponent(cookie).slice(2, 45))}}`
  expect(await setup.redis.ttl(key)).toBeLessThanOrEqual(5) // its trace is not renewed
  const page = await other.visit(at('/'), { headers: { cookie: `sso2.sid=${cookie}` } })
  expect(view(page).status).not.toBe('loggedin')
}

/** A flow that the browser begins itself, though it has a session. */
async function ownFlow(): Promise<string> {
  const page = await browser.fetchJson(at('/identify-me'))
  return page.json.identify
}

const look = async () => setup.emulator.clock.advance(361)
const land = async () => browser.visit(await ownFlow())
const landInVain = async () => {
  setup.emulator.faults.add({ operation: 'token', kind: 'down' })
  await land()
}
const asGrace = { status: 'loggedin', username: 'grace' }
const again = { status: 'loggedin', username: 'ada', saved: 'kept' }
const unknown = { status: 'anon', degraded: 'user_unknown' }
/** Age of a session in seconds. Its cookie says when it reaches the absolute limit. */
const age = () => 90 * 86_400 - (Number(cookie().expires) - setup.emulator.clock.now()) / 1000

const switches: [what: string, page: string, account: typeof ada, see: () => unknown, seen: object, age: number][] = [
  ['another account logs in elsewhere, and Session Status sees it', '/keep', grace, look, asGrace, 0],
  ['another account logs in elsewhere, and a landing sees it', '/keep', grace, land, asGrace, 0],
  ['another account logs in elsewhere after regenerate(), twice', '/regenerate', grace, () => {}, asGrace, 0],
  ['the same account logs in anew, and a landing sees it', '/keep', ada, land, again, 1000],
  ['a login anew cannot be loaded at its landing', '/keep', ada, landInVain, unknown, 0],
]

test.each(switches)(
  '[L10, S10, S20] %s: new ID; what a handler kept and the age of the session are only of the same account',
  async (_what, page, account, see, seen, seconds) => {
    await logInAtLast(browser, setup.morning, ada)
    setup.emulator.clock.advance(1000)
    expect(view(await browser.visit(at(page)))).toMatchObject({ username: 'ada', saved: 'kept' })
    const known = id()
    await browser.visit(evening('/'))
    await browser.submit(evening('/logout'), { return_to: '/' })
    await logInAtLast(browser, setup.evening, account)
    setup.emulator.clock.advance(2)
    await see()
    expect(view(await browser.visit(at('/')))).toEqual({ ...seen, url: '/' })
    expect(Math.abs(age() - seconds)).toBeLessThan(400)
    await expectWorthless(known)
  },
)

test('[L2] regenerate() in a request with the cookie from before a login leaves the cookie of the login', async () => {
  const headers = { cookie: `sso2.sid=${id()}` }
  await logInAtLast(browser, setup.morning)
  const answer = await setup.browser().fetchJson(at('/regenerate'), { headers })
  expect(answer.headers['set-cookie']).toBeUndefined()
})

test('[L2] a signed ID that this site did not issue is accepted by nothing, and another one comes back', async () => {
  const invented = signedId('A'.repeat(43))
  const headers = { cookie: `sso2.sid=${invented}` }
  const keys = await setup.keys()
  const victim = setup.browser({ cookies: false })
  const flow = await victim.fetchJson(at('/identify-me'), { headers })
  expect(flow.headers['set-cookie']?.join()).not.toContain('sso2.sid')
  const tried = await victim.fetchJson(at('/login'), { json: ada, headers })
  expect([tried.status, tried.json.error]).toEqual([401, 'session_ended'])
  const kept = await victim.fetchJson(at('/keep'), { headers })
  const [issued = ''] = kept.headers['set-cookie'] ?? []
  expect(issued).toMatch(/^sso2\.sid=s%3A/)
  expect(issued).not.toContain('A'.repeat(43))
  // keys of the logins before may run out meanwhile
  expect((await setup.keys()).filter((key) => !keys.includes(key))).toHaveLength(1)
  await expectWorthless(invented)
})
