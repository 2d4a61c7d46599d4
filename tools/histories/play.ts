import { setTimeout as sleep } from 'node:timers/promises'
import { settleDown } from './aftermath'
import { Agent } from './agent'
import { type Dice, dice } from './dice'
import type { Entry, History } from './entries'
import type { Doings } from './nemesis'
import type { Account, Setup } from './setup'
import { comeByOnce, doAnything, read } from './steps'

const READERS = 3
const NEWCOMER_PAUSE_MS = 500

const account = (username: string): Account => ({ username, password: `password-of-${username}` })
/** Those who do anything share an account in pairs. */
const ofDoer = (number: number) => [
  account(`one-${number}`),
  account(`other-${number}`),
  account(`shared-${Math.floor(number / 2)}`),
]
const ofReader = (number: number) => [account(`reader-${number}`)]
const numbers = (first: number, count: number) => Array.from({ length: count }, (_, index) => first + index)

/** Accounts of so many browsers that do anything, and of the readers. */
export function accountsFor(doers: number): Account[] {
  const all = [...numbers(0, doers).flatMap(ofDoer), ...numbers(doers, READERS).flatMap(ofReader)]
  return [...new Map(all.map((one) => [one.username, one])).values()]
}

/** Everybody who comes to the site. The seed says who does what. @param mostPauseMs between two steps of a browser */
export function people(setup: Setup, seed: number, doers: number, mostPauseMs: number) {
  const entries: Entry[] = []
  const note = (entry: Entry) => void entries.push(entry)
  const agents = numbers(0, doers).map((number) => new Agent(setup, number, ofDoer(number), note))
  const quiet = numbers(doers, READERS).map((number) => new Agent(setup, number, ofReader(number), note))
  const rollOf = (number: number) => dice(seed * 1000 + number)
  const live = async (isOver: () => boolean) => {
    const one = (number: number, step: (roll: Dice) => Promise<unknown>) =>
      again(rollOf(number), mostPauseMs, isOver, step)
    await Promise.all([
      ...agents.map((agent) => one(agent.number, (roll) => doAnything(agent, roll, agents))),
      ...quiet.map((agent) => one(agent.number, (roll) => read(agent, roll))),
      newcomers(setup, doers + READERS, note, rollOf(doers + READERS), isOver),
    ])
  }
  return { entries, agents, live }
}

/** Waits until all is well, looks at these browsers once more, and gathers everything that was seen. */
export async function lookBack(
  setup: Setup,
  entries: readonly Entry[],
  doings: Doings,
  agents: readonly Agent[],
): Promise<History> {
  const aftermath = await settleDown(setup, agents, doings)
  return {
    bounds: setup.bounds,
    entries,
    troubles: [...doings.troubles, ...setup.busy],
    ends: doings.ends,
    calls: setup.calls(),
    aftermath,
    mishaps: setup.mishaps,
  }
}

async function again(roll: Dice, most: number, isOver: () => boolean, step: (roll: Dice) => Promise<unknown>) {
  while (!isOver()) {
    await step(roll)
    await sleep(roll() * most)
  }
}

/** Each is another browser. */
function newcomers(
  setup: Setup,
  first: number,
  note: (entry: Entry) => void,
  roll: Dice,
  isOver: () => boolean,
): Promise<void> {
  let number = first
  return again(roll, NEWCOMER_PAUSE_MS, isOver, () => {
    number += 1
    const kinds = [{}, {}, { cookies: false }, { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)' }]
    const options = kinds[Math.floor(roll() * kinds.length)]
    return comeByOnce(new Agent(setup, number, [], note, options), roll)
  })
}
