import type { Browser, ScriptAnswer } from '../support/agent'
import { basket, document, keepings, type PausableSetup, startPausableSetup } from '../support/pausable-setup'
import { present } from '../support/setup'

/* A sensitive page is served after a Session Status that the site sent after the request began, and after nothing else. */

const MANY = 12
let setup: PausableSetup

afterEach(() => setup.close())

const terminate = () => {
  const { sid } = present(setup.emulator.sessions().find(({ status }) => status === 'loggedin'))
  setup.emulator.terminate(sid)
}
const passed = ({ status, json }: ScriptAnswer) => status === 200 && json?.passed === true

describe.each(keepings)('with %s', (keeping) => {
  /** All have been read by the middleware before the first of them asks: the site did something of its own between the two. */
  async function together(headers: Record<string, string> = {}): Promise<ScriptAnswer[]> {
    setup.together.expect(MANY)
    const { cookies } = browser
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    return Promise.all(
      Array.from({ length: MANY }, () =>
        setup.browser({ cookies: false }).fetchJson(setup.at('/together'), { headers: { ...headers, cookie } }),
      ),
    )
  }

  let browser: Browser
  const begin = async () => {
    setup = await startPausableSetup({ keeping })
    browser = await setup.loggedInBrowser()
    setup.serveFrom(setup.first, await setup.addReadyProcess())
  }

  test.each<[what: string, headers: Record<string, string>, end: boolean]>([
    ['pages, a session that has ended elsewhere', document, true],
    ['Session Status: wrong_signature', {}, false],
  ])(`[S18] ${MANY} requests at once (%s): none passes`, async (_what, headers, isEnded) => {
    await begin()
    if (isEnded) terminate()
    else setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'wrong_signature' })
    const answers = await together(headers)
    expect(answers.filter(passed)).toEqual([])
    const statuses = new Set(answers.map(({ status }) => status))
    if (isEnded) expect(statuses).not.toContain(500)
    else expect(statuses).toEqual(new Set([503]))
  })

  test('[S18] a request does not pass on the response to a check that was sent before the request began', async () => {
    setup = await startPausableSetup({ keeping, holdsAnswers: true })
    browser = await setup.loggedInBrowser()
    const held = setup.answers.close()
    const one = browser.fetchJson(setup.at('/sensitive'))
    await held.arrived
    terminate()
    setup.together.expect(2)
    const two = browser.fetchJson(setup.at('/together'))
    await setup.together.pass()
    held.open()
    await one
    expect(passed(await two)).toBe(false)
  })

  test.each<[what: string, act: () => Promise<unknown>]>([
    ['a logout', async () => browser.fetchJson(setup.at('/logout'), { json: {} })],
    ['the end of the session elsewhere', async () => terminate()],
  ])('[S18] check() returns "none" after %s', async (_what, act) => {
    await begin()
    const gate = setup.gates.add()
    const begunBefore = browser.fetchJson(setup.at(`/gated-check?gate=${gate.name}`), { headers: document })
    await gate.arrived
    await act()
    gate.open()
    const { status, json } = await begunBefore
    // what `check()` said, and what `req.sso2` says after it
    expect([status, json.check, json.status, json.username]).toEqual([200, 'none', 'none', undefined])
    expect(basket(await browser.fetchJson(setup.at('/basket'))).username).toBeUndefined()
  })
})
