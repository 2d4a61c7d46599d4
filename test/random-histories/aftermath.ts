import { setTimeout as sleep } from 'node:timers/promises'
import type { Agent } from './agent'
import type { Aftermath } from './entries'
import { platformDown } from './faults'
import { type Doings, suffer } from './nemesis'
import type { Setup } from './setup'

/** Everything is as usual so long after the last fault. Promise I9, and what a busy machine needs. */
const HEALED_MS = 6000
/** Within so long all logouts that were kept are made good. Matrix, row 25. */
const LOGOUTS_MS = 60_000
const LOOK_MS = 500
const STALE_SECONDS = 400
const MOST_LOGINS = 3
/** Whoever went round in circles is served without a session for a minute. */
const LOOP_SECONDS = 61

/**
 * The platform goes away, and half of the readers log out: when it is back their logouts arrive without them. Then everything is
 * well: every reader logs out and in, is checked, and logs out for good; nobody is left logged in at the platform.
 */
export async function settleDown(setup: Setup, agents: readonly Agent[], doings: Doings): Promise<Aftermath> {
  await setup.advance(LOOP_SECONDS)
  await sleep(HEALED_MS)
  const broken: string[] = []
  const stillIn = await leaveWithoutPlatform(setup, agents, doings)
  await sleep(HEALED_MS)
  for (const agent of agents) {
    await agent.page('/login', 'form')
    await agent.logout()
    await agent.page('/login', 'form')
    await agent.page()
    if (agent.last !== undefined) broken.push(`${agent.number} is logged in after its last logout: ${agent.lately()}`)
  }
  const everybody = agents.flatMap(({ accounts }) => accounts.map(({ username }) => username))
  stillIn.push(...(await untilAllAreOut(setup, everybody)))
  for (const agent of agents) {
    const [account] = agent.accounts
    if (!account) continue
    await logInPatiently(setup, agent, account)
    if (agent.last !== account.username) broken.push(`${agent.number} cannot log in: ${agent.lately()}`)
  }
  await setup.advance(STALE_SECONDS)
  for (const agent of agents) {
    await agent.page()
    if (agent.last !== agent.accounts[0]?.username)
      broken.push(`${agent.number} has lost its login at the check: ${agent.lately()}`)
    await agent.logout()
  }
  return { stillIn, broken }
}

/** Logs in, again if that failed and the machine was busy, also shortly before: a circuit breaker may still be open. */
async function logInPatiently({ busy }: Setup, agent: Agent, account: Agent['accounts'][number]): Promise<void> {
  for (let tries = 0; tries < MOST_LOGINS; tries += 1) {
    const begin = performance.now()
    await agent.login(account)
    await agent.page()
    const wasBusy = busy.some(({ end }) => end > begin - HEALED_MS)
    if (agent.last === account.username || !wasBusy) return
    await sleep(HEALED_MS)
  }
}

/** Logouts that the platform has not heard are told it by whichever process lives, though their browsers do not come back. */
async function leaveWithoutPlatform(setup: Setup, agents: readonly Agent[], doings: Doings): Promise<string[]> {
  const some: Agent[] = []
  for (const agent of agents) {
    const [account] = agent.accounts
    await agent.page()
    if (agent.last === undefined && account) await agent.enter(account, false)
    await agent.page()
    if (agent.last !== undefined && agent.number % 2 === 0) some.push(agent)
  }
  const own = some.filter(({ last, accounts }) => last !== accounts[2]?.username) // the other one of a pair may stay
  const left = own.flatMap(({ last = '' }) => last)
  const logOut = async () => void (await Promise.all(own.map((agent) => agent.logout())))
  await suffer(setup, [platformDown], Math.random, doings, logOut)
  return untilAllAreOut(setup, left)
}

/** @returns accounts that are logged in at the platform all the same */
async function untilAllAreOut({ emulator }: Setup, usernames: readonly string[]): Promise<string[]> {
  const theirs = new Set(usernames.map((username) => `account-${username}`))
  const end = performance.now() + LOGOUTS_MS
  for (;;) {
    const left = emulator.sessions().flatMap(({ accountId }) => (theirs.has(accountId ?? '') ? [accountId ?? ''] : []))
    if (left.length === 0 || performance.now() > end) return left
    await sleep(LOOK_MS)
  }
}
