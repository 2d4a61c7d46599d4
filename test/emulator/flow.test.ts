import type { FlowStep } from '../../lib/emulator'
import { flowDiagram } from '../../lib/emulator/portal/flow-diagram'
import { device, morning, token } from './platform'
import { sharedEmulator } from './shared'

/* A session's steps between browser, sites and platform: as data, as text, over HTTP and as a diagram. */

const { emulator, platform } = sharedEmulator()

const page = async (path: string) => (await platform.request('GET', path, { accept: 'text/html' })).body
const steps = (sid: string) => emulator.flow(sid).steps
const way = ({ from, to, name }: FlowStep) => `${from} > ${to}: ${name}`
const faulty = (sid: string) => steps(sid).filter(({ verdict }) => verdict !== 'ok')

test('a login is six steps with the form of the browser, and nothing of it is a secret, wherever it is shown', async () => {
  const { sid, at: ticket } = await platform.login()
  expect(steps(sid).map(way)).toEqual([
    'morning > browser: redirect to Identify',
    'browser > platform: Identify',
    'platform > browser: redirect to the landing page: anon',
    'browser > morning: login form (POST)',
    'morning > platform: Authenticate',
    'platform > morning: loggedin',
  ])
  const flow = emulator.flow(sid)
  expect(flow.participants.map(({ name }) => name)).toEqual(['Browser', 'Morning', 'Platform'])
  const [asked, answered] = flow.steps.slice(-2)
  expect(asked?.claims).toMatchObject({ usr: 'ada', pwd: '***', sid })
  expect(answered?.claims).toMatchObject({ sts: 'loggedin', at: '***', sid })
  expect(answered?.durationMs).toBeGreaterThanOrEqual(0)
  expect(JSON.stringify(flow)).not.toContain('correct-horse')
  expect(String(ticket).length).toBeGreaterThan(10)
  const shown = [String(flow), await page(`/flows/sessions/${sid}`), await page(`/_emulator/sessions/${sid}/flow`)]
  for (const text of shown)
    expect([text.includes(String(ticket)), text.includes('Authenticate')]).toEqual([false, true])
})

test('a refusal names the requirement of the interface', async () => {
  const { sid } = await platform.browser().identify()
  await platform.authenticate(sid, { pwd: 'wrong' })
  expect(faulty(sid)).toMatchObject([
    {
      name: 'invalid_credentials',
      verdict: 'refused',
      requirement: expect.stringContaining('wrong username or password'),
    },
  ])
  await platform.status(sid, 'nonsense')
  expect(faulty(sid)[1]).toMatchObject({
    name: 'invalid_token',
    requirement: expect.stringMatching(/^lks: must be anon, loggedin or terminated\. Interface, "SSO JSON Web Token/),
  })
})

test('a fault is marked, with the time that its response took', async () => {
  const { sid } = await platform.browser().identify()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 120, times: 1 })
  await platform.status(sid, 'anon')
  const [slow] = faulty(sid)
  expect(slow).toMatchObject({ verdict: 'fault', name: 'anon', requirement: 'Fault: the response comes late.' })
  expect(slow?.durationMs).toBeGreaterThanOrEqual(115)
  emulator.faults.add({ operation: 'sessionstatus', kind: 'down', times: 1 })
  await platform.status(sid, 'anon').catch(() => {})
  expect(faulty(sid)[1]).toMatchObject({ verdict: 'fault', name: 'no response' })
})

test('a site that the platform does not know, and a response that takes seconds, are told', async () => {
  const { sid } = await platform.browser().identify()
  emulator.faults.add({ operation: 'sessionstatus', kind: 'slow', ms: 1100, times: 1 })
  await platform.status(sid, 'anon')
  await platform.callRaw('sessionstatus', token({ ...morning, clientId: 'stranger' }, { ...device, sid, lks: 'anon' }))
  const text = String(emulator.flow(sid))
  expect(text).toMatch(/\(\d\.\d s\)\n/)
  expect(text).toMatch(/Unknown site → Platform +· Session Status\n/)
})

test('a logout of all and events of the admin portal are steps of their session', async () => {
  const { sid } = await platform.login()
  await platform.call('logoutall', { aid: 'A-ada' })
  expect(steps(sid).slice(-2).map(way)).toEqual(['morning > platform: Logout all', 'platform > morning: terminated'])
  emulator.terminate(sid)
  emulator.prune(sid)
  expect(steps(sid).slice(-2).map(way)).toEqual([
    'platform > platform: the platform ends the session',
    'platform > platform: the platform removes the session (pruned)',
  ])
})

test('as text a flow has a line a step, and says so when there is none; over HTTP it is the same', async () => {
  const { sid } = await platform.browser().identify()
  await platform.authenticate(sid, { pwd: 'wrong' })
  const text = String(emulator.flow(sid))
  expect(text).toMatch(/^SSO session .{8}\n/)
  expect(text).toMatch(/\d\d:\d\d:\d\d\.\d{3} {2}Morning → Platform +· Authenticate\n/)
  expect(text).toMatch(/Platform → Morning +✗ invalid_credentials \([\d.]+ ms\)\n/)
  expect(String(emulator.flow('no-such-session'))).toBe('SSO session no-such-\nno call was about it\n')
  const { json } = await platform.control('GET', `/sessions/${sid}/flow`)
  expect([json.steps, json.text]).toEqual([JSON.parse(JSON.stringify(steps(sid))), text])
})

test('the page of a browser has every session of it, and those of no other', async () => {
  const browser = platform.browser()
  const first = await browser.identify()
  emulator.terminate(first.sid)
  emulator.clock.advance(360)
  const second = await browser.identify()
  const other = await platform.browser().identify()
  const shown = await page(`/flows/sessions/${second.sid}`)
  const [, link = ''] = /href="(\/flows\/browsers\/[0-9a-f]{12})"/.exec(shown) ?? []
  const all = await page(link)
  expect([first.sid, second.sid, '6 min later', other.sid].filter((text) => !all.includes(text))).toEqual([other.sid])
})

test('a diagram of more participants than lanes has no lanes', () => {
  const participants = Array.from({ length: 13 }, (_none, index) => ({ id: `${index}`, name: `Site ${index}` }))
  const { text } = flowDiagram({ title: 'many sites', participants, steps: [] }, 'step-')
  expect(text).toContain('class="diagram "')
})
