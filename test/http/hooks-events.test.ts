import { hearEvents } from '../support/landing'
import { loggedInBrowser, useSetup, visitor } from '../support/setup'

const setup = useSetup()
const events = hearEvents()
const at = (path: string) => `${setup.morning.url}${path}`
const loadedAt = performance.now()

beforeEach(() => {
  setup.emulator.faults.clear()
  events.messages.length = 0
  events.clear()
})
afterAll(events.stop)

/** Operation, outcome and reason of an event for each kind of refusal, and for logouts. Those of bad tokens and bindings are in `test/security/landing.test.ts`. */
const stories: [string, string, () => Promise<unknown>][] = [
  [
    'a wrong password',
    'authenticate refused invalid_credentials',
    async () => (await visitor(setup)).fetchJson(at('/login'), { json: { username: 'grace', password: 'wrong' } }),
  ],
  ['a login', 'authenticate logged_in', () => loggedInBrowser(setup)],
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
    'sessionstatus over terminated',
    async () => {
      const browser = await loggedInBrowser(setup)
      for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
      setup.emulator.clock.advance(361)
      await browser.visit(at('/'))
    },
  ],
  ['a check without an answer', 'sessionstatus no_answer no_answer', checkInVain('garbage')],
  ['a check whose answer another key has signed', 'sessionstatus no_answer signature', checkInVain('wrong_signature')],
  ['the page after it', 'visit served sso_unavailable', checkInVain('garbage')],
  ['a logout', 'logout confirmed', logOutAt('/logout')],
  ['a logout of all', 'logoutall confirmed', logOutAt('/logout-all')],
]

function logOutAt(path: string) {
  return async () => {
    const browser = await loggedInBrowser(setup)
    await browser.submit(at(path), { return_to: '/' })
  }
}

/** Spoils Session Status of every session there is. The background asks about none of them. */
function checkInVain(kind: 'garbage' | 'wrong_signature') {
  return async () => {
    const browser = await loggedInBrowser(setup)
    for (const { sid } of setup.emulator.sessions())
      setup.emulator.faults.add({ operation: 'sessionstatus', kind, sid })
    setup.emulator.clock.advance(361)
    await browser.visit(at('/'))
  }
}

test('the first page of a visitor is told as a redirect, a landing, and nothing more', async () => {
  await visitor(setup)
  expect(events.heard).toEqual(['identify redirected no_session', 'landing stay_anonymous'])
})

test.each(stories)(
  '[O9] %s is told as "%s", with all fields, and names no session, person or address',
  async (...row) => {
    const [, told, happens] = row
    await happens()
    const { messages } = events
    const heard = messages.map(({ operation, outcome, reason }) => [operation, outcome, reason].join(' ').trim())
    expect(heard).toContain(told)
    for (const { sid } of setup.emulator.sessions()) expect(JSON.stringify(messages)).not.toContain(sid)
    // a hash is random letters, and among hundreds "ada" is there one day
    const words = JSON.stringify(messages, (name, value) => (name === 'sidHash' ? undefined : value))
    expect(words).not.toMatch(/ada|grace|edsger|correct-horse|127\.0\.0\.1|localhost|eyJ/)
    for (const { reason: _reason, durationMs, sidHash = 'x'.repeat(16), ...names } of messages) {
      expect(Object.keys(names)).toEqual(['operation', 'outcome'])
      expect([durationMs >= 0, durationMs <= performance.now() - loadedAt]).toEqual([true, true])
      expect(sidHash).toMatch(/^[\w-]{16}$/)
    }
  },
)
