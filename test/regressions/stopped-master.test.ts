import { createHash } from 'node:crypto'
import { once } from 'node:events'
import calculateSlot from 'cluster-key-slot'
import express from 'express'
import type { Cluster } from 'ioredis'
import { normalisedUsername } from '../../lib/decide/login-budgets'
import { demoOptions } from '../../lib/emulator'
import { addPages, present, view } from '../flows/setup'
import { startCluster } from '../storage/servers'
import { Browser, type VisitedPage } from '../support/agent'
import { type RunningSite, startSite } from './support'

/*
 * A Cluster of three masters. One of them stops and stays silent. A page and a landing need one master: that of the SSO session. A login
 * needs that one and the account's. On a new device it also needs the user name's.
 */

const USERS = 120
const AT_ONCE = 3
/** A response waits for one command at most, whose deadline is 300 ms. */
const LATEST_MS = 350
/** In percent. Of many users 67 % with one key, 44 % with two, 30 % with three. Of so few, chance leaves this. */
const LEAST = {
  membersStillLoggedIn: 54,
  newVisitorsIdentified: 54,
  loginsOnKnownDevices: 30,
  loginsOnKnownDevicesWithNameAway: 15,
  loginsOnNewDevices: 17,
}

const accounts = Array.from({ length: 3 * USERS }, (_, index) => ({
  accountId: `account-of-${index}`,
  username: `user-${index}`,
  password: `password-of-user-${index}`,
}))
type Account = (typeof accounts)[number]

let running: Awaited<ReturnType<typeof startCluster>>
let cluster: Cluster
let setup: RunningSite
let browsers = 0
/** Responses of the site, in milliseconds. */
let responses: number[] = []
/** The slowest response of a page that needs no master: on a busy machine, responses are late without an outage. */
let slowestControl = 0
const members: Browser[] = []
const knownDevices: { readonly browser: Browser; readonly account: Account }[] = []

/** Each browser has an address of its own. */
function newBrowser(): Browser {
  browsers += 1
  const address = `198.51.${Math.floor(browsers / 250)}.${1 + (browsers % 250)}`
  return new Browser({ now: () => setup.emulator.clock.now(), headers: { 'x-forwarded-for': address } })
}

function noted(visit: VisitedPage): VisitedPage {
  for (const { url, ms } of visit.trail) if (url.startsWith(setup.url)) responses.push(ms)
  return visit
}

const statusOf = (visit: VisitedPage) => (visit.status === 200 ? view(visit).status : undefined)

/** Are the attempts at this user name kept by the stopped master, the second of three? */
function isNameAway({ username }: Account): boolean {
  const hash = createHash('sha256')
    .update(`name\n${normalisedUsername(username)}`)
    .digest('base64url')
  const slot = calculateSlot(`${setup.prefix}left:${hash}`)
  return slot >= 5461 && slot <= 10_921
}

/** Asks for the control page again and again. @returns stops asking */
function watchControl(): () => Promise<void> {
  let isOver = false
  const ask = async () => {
    while (!isOver) {
      const [hop] = (await newBrowser().visit(`${setup.url}/control`)).trail
      slowestControl = Math.max(slowestControl, hop?.ms ?? 0)
    }
  }
  const asking = ask()
  return async () => {
    isOver = true
    await asking
  }
}

/** Opens the login page, and sends the form if there is one. */
async function isLoggedIn(browser: Browser, { username, password }: Account): Promise<boolean> {
  const form = noted(await browser.visit(`${setup.url}/login?return_to=%2F`))
  if (!form.body.includes('name="password"')) return false
  const fields = { username, password, return_to: '/' }
  const page = noted(await browser.submit(`${setup.url}/login`, fields))
  return page.url === `${setup.url}/` && statusOf(page) === 'loggedin'
}

beforeAll(async () => {
  running = await startCluster()
  // ioredis keeps the process alive for so long after a connection that was closed before it was ready
  cluster = running.client({ disconnectTimeout: 100 })
  cluster.on('error', () => {})
  await once(cluster, 'ready')
  setup = await startSite({
    options: {
      redis: cluster,
      loginLimit: { attempts: 10, perSeconds: 60 },
      logger: { warn: () => {}, info: () => {} },
    },
    emulator: { accounts: [...present(demoOptions().accounts), ...accounts] },
    build: (sso, gates) => {
      const app = express().set('trust proxy', 1)
      app.get('/control', (_req, res) => void res.end())
      return addPages(app.use(sso), sso, gates)
    },
  })
  await each(accounts.slice(0, USERS), async (account) => {
    const browser = newBrowser()
    if (await isLoggedIn(browser, account)) members.push(browser)
  })
  await each(accounts.slice(USERS, 2 * USERS), async (account) => {
    const browser = newBrowser()
    if (!(await isLoggedIn(browser, account))) return
    await browser.submit(`${setup.url}/logout`, { return_to: '/' })
    knownDevices.push({ browser, account })
  })
  present(running.masters[1]).hang()
  // the site notices by its first commands that are not answered
  await each(Array.from({ length: 15 }), async () => void (await newBrowser().visit(`${setup.url}/`)))
  responses = []
}, 120_000)
afterAll(async () => {
  present(running.masters[1]).resume()
  await setup.close()
  await cluster.quit()
  await running.stop()
}, 60_000)

async function each<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items.entries()]
  const work = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) await run(next[1])
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

const percentOf = (results: readonly boolean[]) => Math.round((100 * results.filter(Boolean).length) / results.length)

/** Returns for each of these whether it was served. */
async function results<T>(items: readonly T[], isServed: (item: T) => Promise<boolean>): Promise<boolean[]> {
  expect(items).toHaveLength(USERS)
  const served: boolean[] = []
  await each([...items.entries()], async ([index, item]) => {
    served[index] = await isServed(item)
  })
  return served
}

test('with one of three masters stopped, users go on whose keys are on the others, and no response is late', async () => {
  const stopControl = watchControl()
  const stillLoggedIn = await results(
    members,
    async (browser) => statusOf(noted(await browser.visit(`${setup.url}/`))) === 'loggedin',
  )
  const identified = await results(Array.from({ length: USERS }), async () => {
    const browser = newBrowser()
    noted(await browser.visit(`${setup.url}/`))
    return statusOf(noted(await browser.visit(`${setup.url}/`))) === 'anon'
  })
  const onKnown = await results(knownDevices, ({ browser, account }) => isLoggedIn(browser, account))
  const onNew = await results(accounts.slice(2 * USERS), (account) => isLoggedIn(newBrowser(), account))
  await stopControl()
  const shares = {
    membersStillLoggedIn: percentOf(stillLoggedIn),
    newVisitorsIdentified: percentOf(identified),
    loginsOnKnownDevices: percentOf(onKnown),
    loginsOnKnownDevicesWithNameAway: percentOf(
      onKnown.filter((_, index) => isNameAway(present(knownDevices[index]).account)),
    ),
    loginsOnNewDevices: percentOf(onNew),
  }
  for (const [what, share] of Object.entries(shares))
    expect([what, share >= LEAST[what as keyof typeof LEAST], share]).toEqual([what, true, share])
  expect(slowestControl).toBeGreaterThan(0)
  expect(Math.max(...responses)).toBeLessThan(LATEST_MS + 2 * slowestControl)
}, 120_000)
