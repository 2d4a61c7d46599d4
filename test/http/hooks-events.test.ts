import { hearEvents } from '../support/landing'
import { eventually, loggedInBrowser, useSetup, visitor } from '../support/setup'

const setup = useSetup()
const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`

beforeEach(() => {
  setup.emulator.faults.clear()
  events.clear()
})
afterAll(events.stop)

/** Each kind of refusal, and the event that tells of it. Those of bad tokens and bindings are in `test/security/landing.test.ts`. */
const stories: [string, string, () => Promise<unknown>][] = [
  [
    'a wrong password',
    'login refused invalid_credentials',
    async () => (await visitor(setup)).fetchJson(at('/login'), { json: { username: 'grace', password: 'wrong' } }),
  ],
  [
    'a landing of a user who stays logged in without the new token',
    'landing unchanged not_renewed',
    async () => {
      const browser = await loggedInBrowser(setup)
      setup.emulator.faults.add({ operation: 'token', kind: 'down' })
      await browser.visit((await browser.fetchJson(at('/identify-me'))).json.identify)
    },
  ],
  [
    'a session that was ended elsewhere',
    'check over terminated',
    async () => {
      const browser = await loggedInBrowser(setup)
      for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
      setup.emulator.clock.advance(361)
      await browser.visit(at('/'))
    },
  ],
  ['a check without an answer', 'check no_answer no_answer', checkInVain],
  [
    'a logout that is not taken, and its retry',
    'logout pending',
    async () => {
      const browser = await loggedInBrowser(setup)
      setup.emulator.faults.add({ operation: 'logout', kind: 'garbage' })
      await browser.submit(at('/logout'), { return_to: '/' })
      setup.emulator.clock.advance(10)
      await eventually(async () => events.messages.some(({ operation }) => operation === 'retry'))
    },
  ],
]

/** Spoils Session Status of every session there is. The background asks about none of them. */
async function checkInVain(): Promise<void> {
  const browser = await loggedInBrowser(setup)
  for (const { sid } of setup.emulator.sessions())
    setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'garbage', sid })
  setup.emulator.clock.advance(361)
  await browser.visit(at('/'))
}

test.each(stories)('[O9] %s is told as "%s"', async (_what, told, happens) => {
  await happens()
  expect(events.heard).toContain(told)
})

test('[O9] every event has its fields, and names no session, person or address', () => {
  const { messages } = events
  expect(messages.length).toBeGreaterThan(20)
  const fields = new Set(messages.flatMap((message) => Object.keys(message)))
  expect([...fields].sort()).toEqual(['durationMs', 'operation', 'outcome', 'reason', 'sidHash'])
  const operations = [...new Set(messages.map(({ operation }) => operation))].sort().join(' ')
  expect(operations).toBe('authenticate identify landing logout retry sessionstatus visit')
  for (const { sid } of setup.emulator.sessions()) expect(JSON.stringify(messages)).not.toContain(sid)
  // a hash is random letters, and among hundreds "ada" is there one day
  const words = JSON.stringify(messages, (name, value) => (name === 'sidHash' ? undefined : value))
  expect(words).not.toMatch(/ada|grace|edsger|correct-horse|127\.0\.0\.1|localhost|eyJ/)
  const always = expect.arrayContaining(['operation', 'outcome', 'durationMs', 'sidHash'])
  for (const message of messages) expect(Object.keys(message)).toEqual(always)
  for (const { durationMs, sidHash } of messages) {
    expect(durationMs).toBeGreaterThanOrEqual(0)
    if (sidHash !== undefined) expect(sidHash).toMatch(/^[\w-]{16}$/)
  }
})
