import { randomUUID } from 'node:crypto'
import express, { type Express } from 'express'
import { type Sso2, type Sso2Options, sso2 } from '../../lib'
import { createEmulator, demoOptions, type Emulator } from '../../lib/emulator'
import { Browser } from '../support/agent'
import { identifyRedirects } from '../support/pausable-setup'
import { ada, addPages, eventually, Gates, logIn, openPort, present, redisUrl } from '../support/setup'

/* Secrets are changed while two processes of a site, which take turns, are replaced one after the other. */

const [old, next] = ['the-secret-of-before-the-change-0123456789', 'the-secret-of-after-the-change-0123456789']
const [oldSession, nextSession] = ['the-session-secret-of-before-0123456789', 'the-session-secret-of-after-0123456789']
type Secrets = Pick<Sso2Options, 'clientSecret' | 'sessionSecret'>

/** A platform whose client's secret can be changed between two calls, and a site of two processes over one Redis. */
async function startRollout(secrets: Secrets) {
  const [platform, site] = [await openPort('platform'), await openPort('morning')]
  const { url } = site
  const platformUrl = platform.url.replace('platform.localhost', '127.0.0.1') // not every system resolves the other
  const clients = [{ clientId: 'morning', clientSecret: old, landingPage: `${url}/sso2/landing` }]
  let emulator: Emulator = createEmulator(demoOptions({ clients, limits: { sessionsPerAccount: 1000 } }))
  const { organisationId = '' } = emulator.export()
  platform.server.on('request', (req, res) => emulator.app(req, res))
  const base: Sso2Options = {
    ssoUrl: `${platformUrl}/sso`,
    apiUrl: platformUrl,
    tokenUrl: `${platformUrl}/oauth/token`,
    clientId: 'morning',
    organisationId,
    siteUrl: url,
    redis: redisUrl(),
    session: { prefix: `rotation-${randomUUID()}:` },
    clock: { now: () => emulator.clock.now() },
    loginLimit: false,
    timeoutMs: 1000,
    logger: { warn: () => {}, info: () => {} },
  }
  const started: Sso2[] = []
  const start = (more: Secrets): { sso: Sso2; app: Express } => {
    const sso = sso2({ ...base, clientSecret: old, sessionSecret: oldSession, ...secrets, ...more })
    started.push(sso)
    return { sso, app: addPages(express().use(sso), sso, new Gates()) }
  }
  const processes = [start({}), start({})]
  let turn = 0
  site.server.on('request', (req, res) => {
    turn += 1
    present(processes[turn % 2]).app(req, res)
  })
  return {
    url,
    emulator: () => emulator,
    browser: () => new Browser({ now: () => emulator.clock.now() }),
    /** The next request goes to this one. */
    nextAt: (process: 0 | 1) => {
      turn = process === 0 ? 1 : 0
    },
    replace: async (process: 0 | 1, more: Secrets) => {
      const before = present(processes[process])
      const after = start(more)
      const { clientSecret = old } = more
      if (Array.isArray(clientSecret)) await eventually(async () => after.sso.client.clockOffsetSeconds !== undefined)
      processes[process] = after
      await before.sso.close()
    },
    changeAtPlatform: (clientSecret: string) => {
      const saved = emulator.export()
      const sessions = (saved.sessions ?? []).filter(({ status }) => status !== 'terminated')
      emulator = createEmulator({ ...saved, sessions, clients: [{ ...present(saved.clients?.[0]), clientSecret }] })
    },
    close: async () => {
      for (const { server } of [platform, site]) {
        server.close()
        server.closeAllConnections()
      }
      await Promise.all(started.map((sso) => sso.close()))
    },
  }
}

let rollout: Awaited<ReturnType<typeof startRollout>>
const start = async (secrets: Secrets = {}) => {
  rollout = await startRollout(secrets)
}
afterEach(() => rollout.close())

/** What a user sees, at each of the two processes. */
async function pages(browser: Browser) {
  const seen = []
  for (let page = 0; page < 2; page += 1) {
    const visit = await browser.visit(`${rollout.url}/page`)
    seen.push({ redirects: identifyRedirects(visit), ...JSON.parse(visit.body) })
  }
  return seen
}
const isIn = { redirects: 0, status: 'loggedin', username: 'ada', saved: 'kept', url: '/page' }

async function loggedInBrowserAt(): Promise<Browser> {
  const browser = rollout.browser()
  await logIn(browser, rollout, ada)
  await browser.visit(`${rollout.url}/keep`)
  return browser
}

/** After each step: those who were logged in still are, checks included, and a new visitor can log in, and out. */
async function allIsWell(users: Browser[]): Promise<void> {
  rollout.emulator().clock.advance(361)
  for (const browser of users) expect(await pages(browser)).toEqual([isIn, isIn])
  for (const process of [0, 1] as const) {
    const browser = rollout.browser()
    rollout.nextAt(process)
    expect((await browser.visit(`${rollout.url}/login`)).status).toBe(200)
    rollout.nextAt(process)
    expect((await browser.fetchJson(`${rollout.url}/login`, { json: ada })).status).toBe(200)
    await browser.visit(`${rollout.url}/keep`)
    expect(await pages(browser)).toEqual([isIn, isIn])
    const { json } = await browser.fetchJson(`${rollout.url}/logout`, { json: {} })
    expect(json).toEqual({ status: 'none', logout: 'confirmed' })
    expect((await pages(browser)).map(({ status }) => status)).toEqual(['anon', 'anon'])
  }
}

/** Who is sent to Identify in the moment of the change may meet an error page there. @returns how many did, at both processes */
async function noticed(): Promise<number> {
  for (let [visitors, good] = [0, 0]; visitors < 100; visitors += 1) {
    rollout.nextAt(visitors % 2 === 0 ? 0 : 1)
    const { url } = await rollout.browser().visit(`${rollout.url}/page`)
    good = url === `${rollout.url}/page` ? good + 1 : 0
    if (good === 4) return visitors + 1 - good
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('no process noticed')
}

/** The documented steps, one process after the other. */
async function inSteps(name: keyof Secrets, steps: readonly (string | string[] | (() => void))[]): Promise<void> {
  const users = [await loggedInBrowserAt(), await loggedInBrowserAt()]
  for (const step of steps) {
    if (typeof step === 'function') {
      step()
      await noticed()
      await allIsWell(users)
      continue
    }
    for (const process of [0, 1] as const) {
      await rollout.replace(process, { [name]: step })
      await allIsWell(users)
    }
    users.push(await loggedInBrowserAt())
  }
}

test('[O16] a session secret is changed in three steps: no user is logged out, and no login refused', async () => {
  await start()
  await inSteps('sessionSecret', [
    [oldSession, nextSession],
    [nextSession, oldSession],
  ])
  await inSteps('sessionSecret', [nextSession]) // with users whose sessions are younger
})

test.each([
  ['last', [old, next]],
  ['first', [next, old]],
])(
  '[O16] a client secret is changed in three steps, the new one %s, the second step in the portal: no user is logged out, and no login refused',
  async (_where, both) => {
    await start()
    await inSteps('clientSecret', [both, () => rollout.changeAtPlatform(next), next])
  },
)
