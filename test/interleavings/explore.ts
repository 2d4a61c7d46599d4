import { dice } from './dice'
import type { Choice, Choose, Mode, Option, Step } from './scheduler'
import { Trace } from './trace'

/*
 * Which orders are run. Two orders that differ only in steps that do not touch each other come to the same, so one of
 * them is run: of every execution each race (two steps of two actors that touch each other, with nothing between that
 * orders them) is turned around once, until nothing new appears, orders with few preemptions first.
 * Without a bound on preemptions, and not stopped by the number of executions, this is exhaustive.
 */

export interface Ran {
  readonly steps: readonly Step[]
}

export type Run<R extends Ran> = (choose: Choose) => Promise<R>

export interface Limits {
  readonly actors: number
  readonly maxExecutions: number
  /** Switches away from an actor that could have gone on. */
  readonly maxPreemptions: number
  /** Also runs, for every order with at most so many preemptions, each step failing and each answer lost; -1: none. */
  readonly faultsUpTo: number
  readonly isOver?: () => boolean
}

/** What an exploration came to. */
export interface Explored {
  readonly executions: number
  /** Executions that differ in more than steps that do not touch each other. */
  readonly orders: number
  /** Beginnings that could not be followed: nearly none, or what a step touches is wrongly told. */
  readonly astray: number
  /** Was everything within the bound of preemptions run? */
  readonly isComplete: boolean
}

interface Item {
  readonly prefix: readonly Choice[]
  /** Who goes first where nothing else is said. */
  readonly order: readonly number[]
  readonly isFaulty: boolean
  /** Has an execution begun so already? */
  isIn?(trace: Trace): boolean
}

/** Runs the orders of one scenario. @param take gets every execution */
export async function explore<R extends Ran>(run: Run<R>, limits: Limits, take: (ran: R) => void): Promise<Explored> {
  const queue = new Queue(limits.maxPreemptions)
  const orders = new Set<string>()
  const seen: Trace[] = []
  const counts = { executions: 0, astray: 0 }
  for (const order of rotations(limits.actors)) queue.add(0, { prefix: [], order, isFaulty: false })
  for (let item = queue.take(); item; item = queue.take()) {
    const { prefix, order, isFaulty, isIn } = item
    if (isIn && seen.some(isIn)) continue
    if (counts.executions >= limits.maxExecutions || limits.isOver?.())
      return { ...counts, orders: orders.size, isComplete: false }
    let ran = await run(follow(item))
    counts.executions += 1
    if (isAstray(prefix, ran.steps)) {
      take(ran)
      ran = await run(follow(item)) // a busy machine may have let a deadline pass
    }
    if (isAstray(prefix, ran.steps)) counts.astray += 1
    take(ran)
    const trace = new Trace(ran.steps, limits.actors)
    const { line } = trace
    orders.add(nameOf(line.steps))
    if (isFaulty) continue
    seen.push(trace)
    for (const { steps, preemptions, isIn } of trace.reversals())
      queue.add(preemptions, { prefix: steps, order, isFaulty: false, isIn })
    if (line.preemptions <= limits.faultsUpTo)
      for (const bad of faults(ran.steps)) queue.add(line.preemptions + 1, { prefix: bad, order, isFaulty: true })
  }
  return { ...counts, orders: orders.size, isComplete: true }
}

/** Follows a beginning, then lets whoever acted last go on as long as it can. */
export function follow({ prefix, order }: Pick<Item, 'prefix' | 'order'>) {
  let next = 0
  let last: number | undefined
  const pick = (options: readonly Option[]): Choice => {
    const asked = prefix[next]
    next += 1
    if (asked && options.some(({ actor }) => actor === asked.actor)) return asked
    const going = options.find(({ actor }) => actor === last)
    const first = order.map((index) => options.find(({ actor }) => actor === index)).find((option) => option)
    return { actor: (going ?? first ?? options[0] ?? { actor: 0 }).actor, mode: 'ok' }
  }
  return (options: readonly Option[]): Choice => {
    const choice = pick(options)
    last = choice.actor
    return choice
  }
}

const isAstray = (prefix: readonly Choice[], steps: readonly Step[]) =>
  prefix.some(({ actor }, index) => steps[index]?.actor !== actor)

/** Orders by chance: whoever acts goes on, or is interrupted one time in `every`; one fault in some of them. */
export function wander(seed: number, every: number, hasFault: boolean) {
  const roll = dice(seed)
  let last: number | undefined
  let faultIn = hasFault ? Math.floor(roll() * 40) : -1
  return (options: readonly Option[]): Choice => {
    const going = options.find(({ actor }) => actor === last)
    const any = options[Math.floor(roll() * options.length)]
    const option = going && roll() >= 1 / every ? going : any
    last = option?.actor ?? 0
    const isHit = option?.canFail === true && faultIn-- === 0
    const bad: Mode = roll() < 0.5 ? 'fail' : 'lost'
    return { actor: last, mode: isHit ? bad : 'ok' }
  }
}

const rotations = (actors: number) =>
  Array.from({ length: actors }, (_, first) => Array.from({ length: actors }, (__, index) => (first + index) % actors))

/** The execution up to each step that can fail, and then that step failing, or its answer lost. */
function* faults(steps: readonly Step[]): Generator<Choice[]> {
  const choices = steps.map(({ actor, mode }) => ({ actor, mode }))
  for (const [index, { actor, canFail }] of steps.entries()) {
    if (!canFail) continue
    for (const mode of ['fail', 'lost'] as const) yield [...choices.slice(0, index), { actor, mode }]
  }
}

/** Items by their number of preemptions, fewest first; among equals, first come, first served. */
class Queue {
  readonly #buckets: Item[][] = []
  readonly #names = new Set<string>()
  constructor(readonly maxPreemptions: number) {}
  add(preemptions: number, item: Item): void {
    const name = nameOf(item.prefix)
    if (preemptions > this.maxPreemptions || (name !== '' && this.#names.has(name))) return
    this.#names.add(name)
    const bucket = this.#buckets[preemptions] ?? []
    bucket.push(item)
    this.#buckets[preemptions] = bucket
  }
  take(): Item | undefined {
    return this.#buckets.find((bucket) => bucket !== undefined && bucket.length > 0)?.shift()
  }
}

const MARKS: Readonly<Record<Mode, string>> = { ok: '', fail: '-', lost: '~' }

/** Choices as text: `A3B2A-` is three steps of A, two of B, and one of A that fails; `~` says that the answer is lost. */
export function nameOf(choices: readonly Choice[]): string {
  let text = ''
  for (let from = 0; from < choices.length; ) {
    const { actor, mode } = choices[from] ?? { actor: 0, mode: 'ok' as const }
    let to = from + 1
    while (mode === 'ok' && choices[to]?.actor === actor && choices[to]?.mode === 'ok') to += 1
    text += String.fromCharCode(65 + actor) + (to - from > 1 ? to - from : '') + MARKS[mode]
    from = to
  }
  return text
}

/** Reads what `nameOf` has written. */
export function readChoices(text: string): Choice[] {
  return [...text.matchAll(/([A-Z])(\d*)([-~]?)/g)].flatMap(([, letter = 'A', times, mark]) => {
    const mode: Mode = mark === '-' ? 'fail' : mark === '~' ? 'lost' : 'ok'
    const choice = { actor: letter.charCodeAt(0) - 65, mode }
    return Array.from({ length: Number(times || 1) }, () => choice)
  })
}
