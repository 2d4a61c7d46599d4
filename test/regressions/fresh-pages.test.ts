import { setTimeout as sleep } from 'node:timers/promises'
import { ada, present } from '../flows/network'
import type { ScriptAnswer } from '../support/agent'
import { basket, document, keepings, type Stage, startStage } from './stage'

/*
 * A sensitive page is served after a Session Status that the site sent after the request began, and after nothing else.
 */

const MANY = 12
let stage: Stage

afterEach(() => stage.close())

const terminate = () => {
  const { sid } = present(stage.emulator.sessions().find(({ status }) => status === 'loggedin'))
  stage.emulator.terminate(sid)
}
/** What `check()` said, and what `req.sso2` says after it. */
const expectNoUser = ({ status, json }: ScriptAnswer) =>
  expect([status, json.check, json.status, json.username]).toEqual([200, 'none', 'none', undefined])
const passed = ({ status, json }: ScriptAnswer) => status === 200 && json?.passed === true

describe.each(keepings)('with %s', (keeping) => {
  /** All have been read by the middleware before the first of them asks: the site did something of its own between the two. */
  async function together(headers: Record<string, string> = {}): Promise<ScriptAnswer[]> {
    stage.together.expect(MANY)
    const { cookies } = browser
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    return Promise.all(
      Array.from({ length: MANY }, () =>
        stage.browser({ cookies: false }).fetchJson(stage.at('/together'), { headers: { ...headers, cookie } }),
      ),
    )
  }

  let browser: Awaited<ReturnType<Stage['loggedIn']>>
  /** Sessions in memory belong to one process. All others are served by two. */
  const begin = async () => {
    stage = await startStage({ keeping })
    browser = await stage.loggedIn()
    if (keeping !== 'memory') stage.serveFrom(stage.first, stage.addProcess())
  }

  test.each<
    [what: string, headers: Record<string, string>, end: boolean, kind: 'slow' | 'down' | 'garbage' | 'wrong_signature']
  >([
    ['scripts, a session that has ended elsewhere', {}, true, 'slow'],
    ['pages, a session that has ended elsewhere', document, true, 'slow'],
    ['Session Status: down', {}, false, 'down'],
    ['Session Status: garbage', {}, false, 'garbage'],
    ['Session Status: wrong_signature', {}, false, 'wrong_signature'],
  ])(`[S18] ${MANY} requests at once (%s): none passes`, async (_what, headers, isEnded, kind) => {
    await begin()
    if (isEnded) terminate()
    stage.emulator.faults.add({ operation: 'sessionstatus', ...(kind === 'slow' ? { kind, ms: 100 } : { kind }) })
    const answers = await together(headers)
    expect(answers.filter(passed)).toEqual([])
    const statuses = new Set(answers.map(({ status }) => status))
    if (isEnded) expect(statuses).not.toContain(500)
    else expect(statuses).toEqual(new Set([503]))
  })

  test(`[S18] ${MANY} requests at once for a living session: all pass, or say that they cannot know`, async () => {
    await begin()
    stage.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 100 })
    const answers = await together()
    expect(answers.filter(passed).length).toBeGreaterThan(0)
    expect(answers.filter((answer) => !passed(answer) && answer.status !== 503)).toEqual([])
  })

  test.each([
    [2, 'waits'],
    [13, 'no longer waits'],
  ])(
    '[S18] a request that was told "terminated" does not pass because another one (%i s later: it %s) asks again',
    async (seconds) => {
      stage = await startStage({ keeping, holdsAnswers: true })
      browser = await stage.loggedIn()
      terminate()
      const first = stage.answers.close()
      const one = browser.fetchJson(stage.at('/sensitive'))
      await first.arrived
      stage.emulator.clock.advance(seconds)
      const second = stage.answers.close()
      const two = browser.fetchJson(stage.at('/sensitive'))
      await Promise.race([second.arrived, two, sleep(300)]) // or it waits for the first one's answer
      first.open()
      const answers = [await one]
      second.open()
      answers.push(await two)
      expect(answers.map(({ status }) => status)).not.toContain(200)
      expect(answers.filter(({ body }) => body.includes('ada'))).toEqual([])
    },
  )

  test('[S18] a request does not pass on the response to a check that was sent before the request began', async () => {
    stage = await startStage({ keeping, holdsAnswers: true })
    browser = await stage.loggedIn()
    const held = stage.answers.close()
    const one = browser.fetchJson(stage.at('/sensitive'))
    await held.arrived
    terminate()
    stage.together.expect(2)
    const two = browser.fetchJson(stage.at('/together'))
    await stage.together.pass()
    held.open()
    await one
    expect(passed(await two)).toBe(false)
  })

  test('[S18] a login form of the same user is no response to a status check', async () => {
    stage = await startStage({ keeping, holdsAnswers: true })
    browser = await stage.loggedIn()
    const gate = stage.gates.add()
    const late = browser.fetchJson(stage.at(`/gated-sensitive?gate=${gate.name}`))
    await gate.arrived
    const held = stage.answers.close()
    const one = browser.fetchJson(stage.at('/sensitive'))
    await held.arrived
    expect((await browser.fetchJson(stage.at('/login'), { json: ada })).status).toBe(200)
    gate.open()
    expect(await Promise.race([late.then(() => 'served'), sleep(300, 'waits')])).toBe('waits')
    held.open()
    expect([(await one).status, passed(await late)]).toEqual([200, true])
  })

  describe('after a logout has returned', () => {
    beforeEach(async () => {
      stage = await startStage({ keeping })
      browser = await stage.loggedIn()
    })

    /** A handler that began before, and goes on after. */
    async function meanwhile(path: string, act: () => Promise<unknown>): Promise<ScriptAnswer> {
      const gate = stage.gates.add()
      const answer = browser.fetchJson(stage.at(`${path}?gate=${gate.name}`))
      await gate.arrived
      await act()
      gate.open()
      return answer
    }
    type Act = () => Promise<unknown>
    const logOut: Act = async () =>
      expect((await browser.fetchJson(stage.at('/logout'), { json: {} })).status).toBe(200)
    test.each<[what: string, act: Act, fault: 'down' | undefined]>([
      ['a logout', logOut, undefined],
      ['a logout that the SSO system has not confirmed', logOut, 'down'],
      ['the end of the session elsewhere', async () => terminate(), undefined],
    ])('[S18] check() returns "none" after %s', async (_what, act, fault) => {
      if (fault) stage.emulator.faults.add({ operation: 'logout', kind: fault })
      expectNoUser(await meanwhile('/gated-check', act))
      expect(basket(await browser.fetchJson(stage.at('/basket'))).username).toBeUndefined()
    })
  })
})
