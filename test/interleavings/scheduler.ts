import { AsyncLocalStorage } from 'node:async_hooks'
import { dice } from './dice'

/*
 * One execution: actors that stop before every step, and a scheduler that lets one step happen at a time.
 * Time is virtual: each step takes a moment, and more passes only when nobody can go on without it.
 */

/** How a step ends: as it should, without having happened, or having happened unseen. */
export type Mode = 'ok' | 'fail' | 'lost'

/** What a step reads or writes. The key `*` stands for everything. */
export interface Touch {
  readonly key: string
  readonly isWrite: boolean
}

/** A step before it happens. */
export interface StepInfo {
  readonly label: string
  readonly touches: readonly Touch[]
  /** May it fail, or its answer be lost? */
  readonly canFail: boolean
  /**
   * Is it the end of a pause? `'write'`: it comes when another actor has written what its actor looked at, which it touches.
   * `'time'`: it comes when no actor can go on without it.
   */
  readonly wokenBy?: 'write' | 'time'
}

/** What the scheduler is told: whose next step happens, and how it ends. */
export interface Choice {
  readonly actor: number
  readonly mode: Mode
}

/** A step that could happen now. */
export type Option = StepInfo & Pick<Choice, 'actor'>

/** A step that has happened. */
export type Step = StepInfo & Choice

export type Choose = (options: readonly Option[]) => Choice

interface Gate extends StepInfo {
  open(mode: Mode): void
}

interface Nap {
  readonly due: number
  /** A short one is a pause in a loop that looks again, a long one a deadline. */
  readonly isShort: boolean
  /** Keys that its actor looked at since it slept last: a write to one of them is worth waking up for. */
  readonly watched: ReadonlySet<string>
  isWoken: boolean
  wake(): void
}

/** Whoever acts: one browser tab, the platform, or time. */
export class Actor {
  readonly gates: Gate[] = []
  readonly naps = new Set<Nap>()
  looked = new Set<string>()
  isDone = false
  /** What its action threw. */
  error: unknown
  constructor(
    readonly index: number,
    readonly name: string,
  ) {}
}

/** Which execution, and which of its actors, a piece of code runs for. */
export interface Context {
  readonly scheduler: Scheduler
  /** Absent while the state is made and while it is judged: then nothing waits. */
  readonly actor: Actor | undefined
}

/** Follows every promise, timer and event of an actor. */
export const contexts = new AsyncLocalStorage<Context>()

/** Longer timers are deadlines. Shorter ones are pauses between two looks, in milliseconds. */
const LONGEST_PAUSE_MS = 250
/** Turns of the event loop in which nothing happens, after which nothing will. */
const IDLE_TURNS = 3
const STUCK_MS = 10_000
/** What a step takes: whoever compares how far two clocks have come can tell which of two steps was first. */
const STEP_MS = 5

const realNow = performance.now.bind(performance)
const turn = setImmediate

/** @see the head of the file */
export class Scheduler {
  readonly actors: readonly Actor[]
  readonly steps: Step[] = []
  /** Milliseconds since 1970 of this execution. */
  now: number
  /** Stands in for `Math.random`: the same numbers in every execution. */
  readonly random = dice(1)
  #activity = 0
  #inFlight = 0
  #events = 0

  constructor(names: readonly string[], now: number) {
    this.actors = names.map((name, index) => new Actor(index, name))
    this.now = now
  }

  /** A number that grows: the order of what was seen. */
  mark(): number {
    this.#events += 1
    return this.#events
  }

  /** Runs something that is no actor's: nothing in it waits. */
  freely<T>(work: () => Promise<T>): Promise<T> {
    return contexts.run({ scheduler: this, actor: undefined }, work)
  }

  /** Waits until the step may happen. */
  gate(actor: Actor | undefined, info: StepInfo): Promise<Mode> {
    if (!actor) return Promise.resolve('ok')
    this.#activity += 1
    for (const { key } of info.touches) actor.looked.add(key)
    return new Promise((resolve) => actor.gates.push({ ...info, open: resolve }))
  }

  /** Counts something that is really under way outside of this process's own code. */
  async underWay<T>(work: () => Promise<T>): Promise<T> {
    this.#inFlight += 1
    try {
      return await work()
    } finally {
      this.#inFlight -= 1
      this.#activity += 1
    }
  }

  /** A timer. @returns what cancels it */
  nap(actor: Actor | undefined, ms: number, wake: () => void): () => void {
    this.#activity += 1
    const isShort = ms <= LONGEST_PAUSE_MS
    if (!actor) return isShort ? this.#passTime(ms, wake) : () => {}
    const nap: Nap = { due: this.now + ms, isShort, watched: actor.looked, isWoken: false, wake }
    if (isShort) actor.looked = new Set()
    actor.naps.add(nap)
    return () => void actor.naps.delete(nap)
  }

  #passTime(ms: number, wake: () => void): () => void {
    const timer = turn(() => {
      this.now += ms
      wake()
    })
    return () => clearImmediate(timer)
  }

  /** Runs all actors to their ends. @param choose which step happens next @param look is called after each step */
  async play(acts: readonly (() => Promise<void>)[], choose: Choose, look: () => Promise<void>): Promise<void> {
    for (const [index, actor] of this.actors.entries()) this.#start(actor, acts[index])
    await this.#settle()
    for (let options = this.#options(); options.length > 0; options = this.#options()) {
      const { actor, mode } = choose(options)
      this.#happen(actor, mode)
      await this.#settle()
      await look()
    }
    for (const { error } of this.actors) if (error) throw error
    const left = this.actors.find(({ isDone }) => !isDone)
    if (left) throw new Error(`${left.name} waits for something that never comes`)
  }

  #start(actor: Actor, act: (() => Promise<void>) | undefined): void {
    const end = (error?: unknown) => {
      actor.isDone = true
      actor.error = error
      this.#activity += 1
    }
    contexts.run({ scheduler: this, actor }, () => act?.().then(() => end(), end))
  }

  /** What could happen now. When there is nothing, time passes: the earliest timer of an actor that is not done. */
  #options(): Option[] {
    const options = this.actors.flatMap((actor) => this.#optionOf(actor) ?? [])
    if (options.length > 0) return options
    const naps = this.actors.filter(({ isDone }) => !isDone).flatMap((actor) => [...actor.naps].map((nap) => nap.due))
    const due = Math.min(...naps)
    const sleeper = this.actors.find(({ isDone, naps: own }) => !isDone && [...own].some((nap) => nap.due === due))
    return sleeper
      ? [{ actor: sleeper.index, label: 'time', touches: [EVERYTHING], canFail: false, wokenBy: 'time' }]
      : []
  }

  #optionOf({ index, gates, naps, isDone }: Actor): Option | undefined {
    const [first] = gates
    if (first) return { actor: index, label: first.label, touches: first.touches, canFail: first.canFail }
    const woken = [...naps].find((nap) => nap.isShort && nap.isWoken)
    if (!woken || isDone) return undefined
    const touches = [...woken.watched].map((key) => ({ key, isWrite: false }))
    return { actor: index, label: 'look again', touches, canFail: false, wokenBy: 'write' }
  }

  #happen(index: number, mode: Mode): void {
    const actor = this.actors[index]
    const option = this.#options().find((one) => one.actor === index)
    if (!actor || !option) throw new Error(`there is no step of actor ${index}`)
    this.steps.push({ ...option, mode })
    this.now += STEP_MS
    const gate = actor.gates.shift()
    if (gate) gate.open(mode)
    else this.#wake(actor)
    for (const other of this.actors) if (other !== actor) rouse(other, option.touches)
  }

  #wake(actor: Actor): void {
    const naps = [...actor.naps].sort((a, b) => Number(b.isWoken) - Number(a.isWoken) || a.due - b.due)
    const [nap] = naps
    if (!nap) return
    actor.naps.delete(nap)
    if (!nap.isWoken) this.now = Math.max(this.now, nap.due)
    nap.wake()
  }

  /** Waits until every actor has stopped: nothing is under way, and some turns of the event loop bring nothing new. */
  async #settle(): Promise<void> {
    const began = realNow()
    let idle = 0
    let seen = -1
    while (idle < IDLE_TURNS || !this.#haveAllStopped()) {
      await new Promise((resolve) => turn(resolve))
      idle = this.#inFlight === 0 && seen === this.#activity ? idle + 1 : 0
      seen = this.#activity
      if (realNow() - began > STUCK_MS) throw new Error('an actor neither stops nor ends')
    }
  }

  #haveAllStopped(): boolean {
    return this.actors.every(({ isDone, gates, naps }) => isDone || gates.length > 0 || naps.size > 0)
  }
}

/** What a step touches whose order matters to every other one. */
export const EVERYTHING: Touch = { key: '*', isWrite: true }

function rouse(actor: Actor, touches: readonly Touch[]): void {
  for (const nap of actor.naps) {
    nap.isWoken ||= isWaking(touches, nap.watched)
  }
}

/** Does a step write one of these keys? */
export const isWaking = (touches: readonly Touch[], watched: ReadonlySet<string>): boolean =>
  touches.some(({ key, isWrite }) => isWrite && watched.has(key))

/** Does the order of two steps matter? */
export function isDependent(one: readonly Touch[], other: readonly Touch[]): boolean {
  return one.some((a) =>
    other.some((b) => (a.isWrite || b.isWrite) && (a.key === b.key || a.key === '*' || b.key === '*')),
  )
}
