import type { Browser } from '../support/agent'
import { signedId } from '../support/raw'
import { ada, eventually, grace, logInAtLast, present, useSetup, view, visitor } from '../support/setup'

/* Every change of user gives a new session ID, the old one is worth nothing, and nothing of one account reaches the next. */

const setup = useSetup()
let browser: Browser
const at = (path: string) => `${setup.morning.url}${path}`
const evening = (path: string) => `${setup.evening.url}${path}`
const id = () =>
  present(browser.cookies.find(({ name, host }) => name === 'sso2.sid' && host === 'morning.localhost')).value

beforeEach(async () => {
  setup.emulator.reset()
  browser = await visitor(setup)
})

/** A browser that sends this cookie has no user, and gets no session by it. */
async function expectWorthless(cookie: string): Promise<void> {
  const other = setup.browser()
  const answer = await other.fetchJson(at('/save-nothing'), { headers: { cookie: `sso2.sid=${cookie}` } })
  expect(answer.json).toEqual({ status: 'none', url: '/save-nothing' })
  const page = await other.visit(at('/'), { headers: { cookie: `sso2.sid=${cookie}` } })
  expect(view(page).status).not.toBe('loggedin')
}

const changes: [string, () => Promise<unknown>][] = [
  ['a login by the form', () => logInAtLast(browser, setup.morning, ada)],
  [
    'a login elsewhere, seen by Session Status',
    async () => {
      await logInAtLast(browser, setup.evening, ada)
      setup.emulator.clock.advance(361)
      await eventually(async () => view(await browser.visit(at('/'))).status === 'loggedin')
    },
  ],
]

/** A flow that the browser begins itself, though it has a session. */
async function ownFlow(): Promise<string> {
  const page = await browser.fetchJson(at('/identify-me'))
  return page.json.identify
}

test.each(changes)('[L2] %s gives a new session ID, and the old one is worth nothing', async (_name, change) => {
  const anonymous = id()
  await change()
  expect(id()).not.toBe(anonymous)
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  await expectWorthless(anonymous)
})

const switches: [string, () => Promise<unknown>][] = [
  ['and Session Status sees it', async () => setup.emulator.clock.advance(361)],
  ['and a landing sees it', async () => browser.visit(await ownFlow())],
]

test.each(switches)(
  '[L10] another account logs in elsewhere, %s: new ID, and the basket of the first is gone',
  async (_name, see) => {
    await logInAtLast(browser, setup.morning, ada)
    expect(view(await browser.visit(at('/keep')))).toMatchObject({ username: 'ada', saved: 'kept' })
    const known = id()
    await browser.visit(evening('/'))
    await browser.submit(evening('/logout'), { return_to: '/' })
    await logInAtLast(browser, setup.evening, grace)
    await see()
    const page = view(await browser.visit(at('/')))
    expect(page).toEqual({ status: 'loggedin', username: 'grace', url: '/' })
    expect(id()).not.toBe(known)
    await expectWorthless(known)
  },
)

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
