import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { ada, loggedIn, sessionSecret } from '../flows/network'
import { Browser } from '../support/agent'
import { freePort } from '../support/ports'
import { startRedis, type TestRedis } from '../support/redis'
import { refuseWrites } from './support'

/** A hook is given eight seconds; more than that, and what a busy machine takes for the rest, nobody waits. */
const BOUND_MS = 15_000

let emulator: Emulator
let own: TestRedis
let redis: Redis
let child: ChildProcess
let url: string
/** Logged out while the SSO system was down: its next look at the login form asks for that again. */
let signedOut: Browser
let reader: Browser
/** What would have ended the process. */
const fatal: string[] = []

async function tell(message: object): Promise<void> {
  const answered = once(child, 'message')
  child.send(message)
  await answered
}

beforeAll(async () => {
  const port = await freePort()
  url = `http://localhost:${port}`
  own = await startRedis()
  redis = new Redis(own.url)
  const client = { clientId: 'morning', clientSecret: 'a-client-secret-of-the-morning-paper-0123456789' }
  emulator = createEmulator(
    demoOptions({ clients: [{ ...client, landingPage: `${url}/sso2/landing` }], tokenTime: 'real' }),
  )
  await emulator.listen(0)
  child = fork(join(__dirname, 'errors-process.cjs'), { env: { PATH: process.env['PATH'] }, silent: true })
  for (const stream of [child.stdout, child.stderr]) stream?.resume()
  child.on('message', (message: { fatal?: string }) => {
    if (message.fatal) fatal.push(message.fatal)
  })
  await tell({ options: { ...emulator.siteOptions(), siteUrl: url, redis: own.url, sessionSecret }, port })
  signedOut = await somebody()
  reader = await somebody()
  emulator.faults.add({ operation: 'logout', kind: 'down' })
  emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  await signedOut.submit(`${url}/logout`, { return_to: '/' })
  await refuseWrites(redis)
})
afterAll(async () => {
  child.disconnect()
  redis.disconnect()
  await emulator.close()
  await own.stop()
})

const somebody = () => loggedIn({ browser: () => new Browser(), morning: { url } })

/** Every way to a problem's page, with the status that it has. */
const problems: Record<string, [number, () => Promise<{ status: number; body: string }>]> = {
  'a login form while the store takes no writes': [503, () => signedOut.visit(`${url}/login`)],
  'a form of another site': [403, () => new Browser().submit(`${url}/login`, ada, { from: 'http://evil.example/' })],
  'a method that is none': [405, () => new Browser().fetchJson(`${url}/logout`, { method: 'PUT', headers: html })],
  'a landing without a token': [400, () => new Browser().visit(`${url}/sso2/landing`)],
  'a sensitive page while the SSO system is down': [503, () => reader.visit(`${url}/sensitive`)],
}
const html = { accept: 'text/html' }

async function outcomes() {
  const all = Object.entries(problems).map(async ([name, [, ask]]) => {
    const late = new Promise<[string]>((resolve) => setTimeout(resolve, BOUND_MS, ['no answer in time']))
    const answer = ask().then(({ status, body }) => [status, body.length > 0 && !body.includes('the site itself')])
    return [name, await Promise.race([answer, late])] as const
  })
  return Object.fromEntries(await Promise.all(all))
}

/** Each with its own status, and something to read. */
const expected = Object.fromEntries(Object.entries(problems).map(([name, [status]]) => [name, [status, true]]))

test.each(['work', 'throw', 'throw nothing', 'reject', 'reject with a text', 'never settle'])(
  '[O12, O17] with a problem view that does "%s" every error has its answer, and the process lives',
  async (mode) => {
    await tell({ mode })
    const answers = await outcomes()
    expect({ answers, fatal: fatal.splice(0) }).toEqual({ answers: expected, fatal: [] })
    expect((await new Browser().fetchJson(`${url}/alive`)).status).toBe(200)
  },
)
