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
const MOST_TRIES = 3
/** Whoever went round in circles is served without a session for a minute. */
const LOOP_SECONDS = 61

/**
 * The platform goes away, and half of the readers log out: when it is back their logouts arrive without them. Then everything is
 * well: every reader logs out, nobody is left logged in at the platform, and every reader logs in.
 */
export async function settleDown(setup: Setup, agents: readonly Agent[], doings: Doings): Promise<Aftermath> {
  await setup.advance(LOOP_SECONDS)
  await sleep(HEALED_MS)
  const broken: string[] = []
  const stillIn = await leaveWithoutPlatform(setup, agents, doings)
  await sleep(HEALED_MS)
  for (const agent of agents) {
    const leave = async () => {
      await agent.page('/login', 'form')
      await agent.logout()
      await agent.page('/login', 'form')
      await agent.page()
    }
    await patiently(setup, leave, () => agent.last === undefined)
    if (agent.last !== undefined) broken.push(`${agent.number} is logged in after its last logout`)
  }
  const everybody = agents.flatMap(({ accounts }) => accounts.map(({ username }) => username))
  stillIn.push(...(await untilAllAreOut(setup, everybody)))
  for (const agent of agents) {
    const [account] = agent.accounts
    if (!account) continue
    const enter = async () => {
      await agent.page('/login', 'form') // where the browser learns that its earlier logout is over
      await agent.login(account)
      await agent.page()
    }
    await patiently(setup, enter, () => agent.last === account.username)
    if (agent.last !== account.username) broken.push(`${agent.number} cannot log in`)
  }
  return { stillIn, broken }
}

/** Does something, again if that failed and the machine was busy, also shortly before: a circuit breaker may still be open. */
async function patiently({ busy }: Setup, act: () => Promise<void>, isDone: () => boolean): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const begin = performance.now()
    await act()
    const wasBusy = busy.some(({ end }) => end > begin - HEALED_MS)
    if (isDone() || !wasBusy) return
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
