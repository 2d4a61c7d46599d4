import { setTimeout as sleep } from 'node:timers/promises'
import { settleDown } from './aftermath'
import { Agent } from './agent'
import { type Dice, dice } from './dice'
import type { Entry, History } from './entries'
import { type Doings, nemesis } from './nemesis'
import { type Account, openSetup, type Setup } from './setup'
import { comeByOnce, doAnything, read, thieve } from './steps'

/** Browsers that do anything, in pairs that share an account; and readers. */
const DOERS = 10
const READERS = 3
/** Between two steps of a browser, in milliseconds, at most. */
const MOST_PAUSE_MS = 250
const NEWCOMER_PAUSE_MS = 500

const doers = Array.from({ length: DOERS }, (_, number) => number)
const readers = Array.from({ length: READERS }, (_, number) => DOERS + number)
const THIEF = DOERS + READERS

const account = (username: string): Account => ({ username, password: `password-of-${username}` })
const ofDoer = (number: number) => [
  account(`one-${number}`),
  account(`other-${number}`),
  account(`shared-${Math.floor(number / 2)}`),
]
const ofReader = (number: number) => [account(`reader-${number}`)]
const everybody = [...doers.flatMap(ofDoer), ...readers.flatMap(ofReader)]
const accounts = [...new Map(everybody.map((one) => [one.username, one])).values()]

/** Plays one history: the seed says who does what, and what breaks; when exactly is the machine's. */
export async function play({ seed, steps }: { seed: number; steps: number }): Promise<History> {
  const setup = await openSetup({ accounts })
  try {
    return await playOn(setup, seed, steps)
  } finally {
    await setup.close()
  }
}

async function playOn(setup: Setup, seed: number, steps: number): Promise<History> {
  const entries: Entry[] = []
  const note = (entry: Entry) => void entries.push(entry)
  const isOver = () => entries.length >= steps
  const agents = doers.map((number) => new Agent(setup, number, ofDoer(number), note))
  const quiet = readers.map((number) => new Agent(setup, number, ofReader(number), note))
  const thief = new Agent(setup, THIEF, [], note)
  const doings: Doings = { troubles: [], ends: [] }
  const rollOf = (number: number) => dice(seed * 1000 + number)
  const live = (number: number, step: (roll: Dice) => Promise<unknown>) =>
    again(rollOf(number), MOST_PAUSE_MS, isOver, step)
  await Promise.all([
    ...agents.map((agent) => live(agent.number, (roll) => doAnything(agent, roll, agents))),
    ...quiet.map((agent) => live(agent.number, (roll) => read(agent, roll))),
    live(THIEF, (roll) => thieve(thief, roll, [...agents, ...quiet])),
    newcomers(setup, note, rollOf(THIEF + 1), isOver),
    nemesis(setup, rollOf(THIEF + 2), doings, isOver),
  ])
  return lookBack(setup, entries, doings, [...agents, ...quiet])
}

/** Waits until all is well, looks at these browsers once more, and gathers everything that was seen. */
export async function lookBack(
  setup: Setup,
  entries: readonly Entry[],
  doings: Doings,
  agents: readonly Agent[],
): Promise<History> {
  const aftermath = await settleDown(setup, agents, doings)
  const sids = new Set(setup.calls().flatMap(({ sid }) => sid ?? []))
  const outputs = setup.processes.map(({ output }) => output)
  return {
    bounds: setup.bounds,
    entries,
    troubles: [...doings.troubles, ...setup.busy],
    ends: doings.ends,
    calls: setup.calls(),
    aftermath,
    spills: await setup.secrets.lookAround(outputs, setup.redis, sids),
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
function newcomers(setup: Setup, note: (entry: Entry) => void, roll: Dice, isOver: () => boolean): Promise<void> {
  let number = THIEF + 10
  return again(roll, NEWCOMER_PAUSE_MS, isOver, () => {
    number += 1
    const kinds = [{}, {}, { cookies: false }, { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)' }]
    const options = kinds[Math.floor(roll() * kinds.length)]
    return comeByOnce(new Agent(setup, number, [], note, options), roll)
  })
}
