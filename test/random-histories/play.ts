import { setTimeout as sleep } from 'node:timers/promises'
import { settleDown } from './aftermath'
import { Agent } from './agent'
import { type Dice, dice } from './dice'
import type { Entry, History, Trouble } from './entries'
import { type Doings, nemesis } from './nemesis'
import { type Account, openStage, type Stage, type StageOptions } from './stage'
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

export interface PlayOptions extends Pick<StageOptions, 'dist'> {
  readonly seed: number
  readonly steps: number
}

/** Plays one history: the seed says who does what, and what breaks; when exactly is the machine's. */
export async function play({ seed, steps, dist }: PlayOptions): Promise<History> {
  const stage = await openStage({ accounts, dist })
  try {
    return await playOn(stage, seed, steps)
  } finally {
    await stage.close()
  }
}

async function playOn(stage: Stage, seed: number, steps: number): Promise<History> {
  const entries: Entry[] = []
  const note = (entry: Entry) => void entries.push(entry)
  const isOver = () => entries.length >= steps
  const known = [...doers.map((number) => ({ number, accounts: ofDoer(number) }))]
  const agents = known.map(({ number, accounts }) => new Agent(stage, number, accounts, note))
  const quiet = readers.map((number) => new Agent(stage, number, ofReader(number), note))
  const thief = new Agent(stage, THIEF, [], note)
  const doings: Doings = { troubles: [], ends: [] }
  const rollOf = (number: number) => dice(seed * 1000 + number)
  const live = (number: number, step: (roll: Dice) => Promise<unknown>) =>
    again(rollOf(number), MOST_PAUSE_MS, isOver, step)
  await Promise.all([
    ...agents.map((agent) => live(agent.number, (roll) => doAnything(agent, roll, agents))),
    ...quiet.map((agent) => live(agent.number, (roll) => read(agent, roll))),
    live(THIEF, (roll) => thieve(thief, roll, [...agents, ...quiet])),
    newcomers(stage, note, rollOf(THIEF + 1), isOver),
    nemesis(stage, rollOf(THIEF + 2), doings, isOver),
  ])
  return lookBack(stage, entries, doings, [...agents, ...quiet])
}

/** Waits until all is well, looks at these browsers once more, and gathers everything that was seen. */
export async function lookBack(
  stage: Stage,
  entries: readonly Entry[],
  doings: Doings,
  agents: readonly Agent[],
): Promise<History> {
  const aftermath = await settleDown(stage, agents, doings)
  const sids = new Set(stage.calls().flatMap(({ sid }) => sid ?? []))
  const outputs = stage.processes.map(({ output }) => output)
  return {
    bounds: stage.bounds,
    entries,
    troubles: [...doings.troubles, ...busyTimes(stage)],
    ends: doings.ends,
    calls: stage.calls(),
    aftermath,
    spills: await stage.secrets.lookAround(outputs, stage.redis, sids),
    mishaps: stage.mishaps,
  }
}

async function again(roll: Dice, most: number, isOver: () => boolean, step: (roll: Dice) => Promise<unknown>) {
  while (!isOver()) {
    await step(roll)
    await sleep(roll() * most)
  }
}

/** Each is another browser. */
function newcomers(stage: Stage, note: (entry: Entry) => void, roll: Dice, isOver: () => boolean): Promise<void> {
  let number = THIEF + 10
  return again(roll, NEWCOMER_PAUSE_MS, isOver, () => {
    number += 1
    const kinds = [{}, {}, { cookies: false }, { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1)' }]
    const options = kinds[Math.floor(roll() * kinds.length)]
    return comeByOnce(new Agent(stage, number, [], note, options), roll)
  })
}

/** Moments at which the machine was busy, as troubles. */
function busyTimes({ busy }: Stage): Trouble[] {
  return busy.map(({ end, ms, clock }) => ({
    part: 'busy',
    name: 'the machine is busy',
    begin: end - ms,
    end,
    clockBegin: clock - ms / 1000,
    clockEnd: clock,
  }))
}
