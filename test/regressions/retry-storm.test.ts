import { reader, type Stage, startStage } from './support'

/* An SSO system in trouble is asked less, not more: whatever it answers, a session that is read all the time adds next to nothing. */

const SECONDS = 200
const MOST_QUESTIONS = 6

const troubles = [
  ['429', { kind: 'status', code: 429 }],
  ['500', { kind: 'status', code: 500 }],
  ['garbage', { kind: 'garbage' }],
  ['"invalid_token"', { kind: 'error', code: 'invalid_token' }],
  ['a wrong signature', { kind: 'wrong_signature' }],
  ['nothing', { kind: 'down' }],
] as const

let stage: Stage
let warn: jest.SpyInstance

beforeEach(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  stage = await startStage()
})
afterEach(async () => {
  await stage.close()
  warn.mockRestore()
})

test.each(troubles)(
  `[O19] a reader on whose session the SSO system says %s has it asked ${MOST_QUESTIONS} times in ${SECONDS} s at most`,
  async (_what, fault) => {
    const browser = await reader(stage)
    stage.emulator.clock.advance(361)
    stage.emulator.faults.add({ operation: 'sessionstatus', ...fault })
    const before = stage.count('sessionstatus')
    const { clock } = stage.emulator
    for (const end = clock.now() + SECONDS * 1000; clock.now() < end; clock.advance(1)) {
      const { json } = await browser.fetchJson(`${stage.url}/`)
      expect(json).toMatchObject({ status: 'loggedin', username: 'ada', degraded: 'sso_unavailable' })
    }
    const questions = stage.count('sessionstatus') - before
    expect(questions).toBeGreaterThan(0)
    expect(questions).toBeLessThanOrEqual(MOST_QUESTIONS)
  },
)
