import { Browser } from '../support/agent'
import { hearEvents } from '../support/landing'
import { loggerTo } from '../support/log-lines'
import { ada, behindProxy, useSetup } from '../support/setup'

const address = '203.0.113.77'
const lines: string[] = []
const site = { loginLimit: { attempts: 3, perSeconds: 60 }, logger: loggerTo(lines) }
const setup = useSetup({ build: behindProxy, site })
const events = hearEvents()
afterAll(events.stop)

test('log lines and events name no person, whatever fails', async () => {
  const { emulator, morning } = setup
  const browser = new Browser({ now: () => emulator.clock.now(), headers: { 'x-forwarded-for': address } })
  const post = (json: typeof ada) => browser.fetchJson(`${morning.url}/login`, { json })
  const secrets = [ada.username, ada.password, 'Ada Lindqvist', 'ada@demo-press.example', 'account-ada', address]
  for (const operation of ['token', 'me', 'authenticate', 'sessionstatus', 'logout'] as const) {
    await browser.visit(`${morning.url}/login`)
    const fault = { operation, kind: 'status', code: 500 } as const
    emulator.faults.add(fault)
    await post(ada)
    await post({ ...ada, password: 'wrong' })
    emulator.clock.advance(361)
    await browser.visit(`${morning.url}/news`)
    await browser.submit(`${morning.url}/logout`, { return_to: '/' })
    emulator.faults.clear()
  }
  for (let count = 0; count < 4; count += 1) await post({ ...ada, password: 'wrong' })
  const said = [...lines, ...events.messages.map((message) => JSON.stringify(message))]
  expect(said.filter((line) => line.includes('limited'))).not.toEqual([])
  expect(said.filter((line) => /^express-sso2: .* (?:failed|exchanged|loaded): /.test(line)).length).toBeGreaterThan(3)
  const isNamed = (line: string) => secrets.some((secret) => new RegExp(`\\b${secret}\\b`, 'i').test(line))
  expect(said.filter(isNamed)).toEqual([])
})
