import { setTimeout as sleep } from 'node:timers/promises'
import { ada, present, view } from '../flows/network'
import type { ScriptAnswer } from '../support/agent'
import { basket, document, keepings, type Stage, startStage } from './stage'

/*
 * A sensitive page is served on an answer to a question that was asked after the request began, and on nothing else.
 */

const MANY = 12
let stage: Stage

afterEach(() => stage.close())

const terminate = () => {
  const { sid } = present(stage.emulator.sessions().find(({ status }) => status === 'loggedin'))
  stage.emulator.terminate(sid)
}
/** What `check()` said, and what `req.sso2` says after it. */
const expectNobody = ({ status, json }: ScriptAnswer) =>
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

  let browser: Awaited<ReturnType<Stage['reader']>>
  const begin = async (processes = 1) => {
    stage = await startStage({ keeping })
    browser = await stage.reader()
    const more = Array.from({ length: processes - 1 }, () => stage.addProcess())
    stage.serveFrom(stage.first, ...more)
  }

  test.each([
    ['scripts', {}],
    ['pages', document],
  ])(
    `[S18] ${MANY} requests at once (%s) for a session that has ended elsewhere: nobody passes`,
    async (_name, headers) => {
      await begin()
      terminate()
      stage.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 100 })
      const answers = await together(headers)
      expect(answers.filter(passed)).toEqual([])
      expect(new Set(answers.map(({ status }) => status))).not.toContain(500)
    },
  )

  test(`[S18] ${MANY} requests at once for a living session: all pass, or say that they cannot know`, async () => {
    await begin()
    stage.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 100 })
    const answers = await together()
    expect(answers.filter(passed).length).toBeGreaterThan(0)
    expect(answers.filter((answer) => !passed(answer) && answer.status !== 503)).toEqual([])
  })

  test.each(['down', 'garbage', 'wrong_signature'] as const)(
    `[S18] ${MANY} requests at once while Session Status gives no answer (%s): nobody passes, all are told`,
    async (kind) => {
      await begin()
      stage.emulator.faults.add({ operation: 'sessionstatus', kind })
      const answers = await together()
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503))
    },
  )

  test.each([
    [2, 'waits'],
    [13, 'no longer waits'],
  ])(
    '[S18] a request that was told "terminated" does not pass because another one (%i s later: it %s) asks again',
    async (seconds) => {
      stage = await startStage({ keeping, holdsAnswers: true })
      browser = await stage.reader()
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

  test('[S18] a request does not pass on the answer to a question that was asked before it began', async () => {
    stage = await startStage({ keeping, holdsAnswers: true })
    browser = await stage.reader()
    const first = stage.answers.close()
    const one = browser.fetchJson(stage.at('/sensitive'))
    await first.arrived
    terminate()
    stage.together.expect(2)
    const two = browser.fetchJson(stage.at('/together'))
    await stage.together.pass()
    first.open()
    await one
    expect(passed(await two)).toBe(false)
  })

  test('[S18] a login form of the same user is no response to a status check', async () => {
    stage = await startStage({ keeping, holdsAnswers: true })
    browser = await stage.reader()
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

  test('[S18] a request does not pass on a response that was late, and older than the request', async () => {
    stage = await startStage({ keeping, holdsAnswers: true })
    browser = await stage.reader()
    const first = stage.answers.close()
    const one = browser.fetchJson(stage.at('/sensitive'))
    await first.arrived
    terminate()
    const gate = stage.gates.add()
    const late = browser.fetchJson(stage.at(`/gated-sensitive?gate=${gate.name}`))
    await gate.arrived
    stage.emulator.clock.advance(13)
    const second = stage.answers.close()
    const two = browser.fetchJson(stage.at('/sensitive')) // asks anew, for nobody waits so long for the first response
    await second.arrived
    first.open()
    await sleep(100)
    gate.open()
    expect(await Promise.race([late.then(() => 'served'), sleep(300, 'waits')])).toBe('waits')
    second.open()
    await Promise.all([one, two])
    expect(passed(await late)).toBe(false)
  })

  describe('after a logout has returned', () => {
    beforeEach(async () => {
      stage = await startStage({ keeping })
      browser = await stage.reader()
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
    const logOut =
      (path = '/logout') =>
      async () =>
        expect((await browser.fetchJson(stage.at(path), { json: {} })).status).toBe(200)

    test.each(['/logout', '/logout-all'])('[S18] (%s) check() says that nobody is there', async (path) => {
      expectNobody(await meanwhile('/gated-check', logOut(path)))
    })

    test('[S18] check() says so where the SSO system has not confirmed it', async () => {
      stage.emulator.faults.add({ operation: 'logout', kind: 'down' })
      expectNobody(await meanwhile('/gated-check', logOut()))
    })

    test('[S18] check() says so in another browser of the account, after logout-all', async () => {
      const other = await stage.reader()
      const act = async () => expect((await other.fetchJson(stage.at('/logout-all'), { json: {} })).status).toBe(200)
      expectNobody(await meanwhile('/gated-check', act))
    })

    test('[S18] a fresh guard that comes late lets nobody pass', async () => {
      const answer = await meanwhile('/gated-sensitive', logOut())
      expect([answer.status, passed(answer)]).toEqual([401, false])
    })

    test('[S18] check() in a session that has ended elsewhere says that nobody is there', async () => {
      expectNobody(await meanwhile('/gated-check', async () => terminate()))
      expect(basket(await browser.fetchJson(stage.at('/basket'))).username).toBeUndefined()
    })
  })
})

test(`[S18] ${MANY} requests at once at two processes for a session that has ended elsewhere: nobody passes`, async () => {
  stage = await startStage()
  const browser = await stage.reader()
  stage.serveFrom(stage.first, stage.addProcess())
  terminate()
  stage.emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 100 })
  stage.together.expect(MANY)
  const answers = await Promise.all(Array.from({ length: MANY }, () => browser.fetchJson(stage.at('/together'))))
  expect(answers.filter(passed)).toEqual([])
  expect(view(await browser.visit(stage.at('/'))).status).not.toBe('loggedin')
})
