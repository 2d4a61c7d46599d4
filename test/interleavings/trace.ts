import { isDependent, isWaking, type Step } from './scheduler'

/*
 * What matters of an order: for each step, how many steps of each actor must come before it. Two orders in which that is
 * the same for all steps differ only in steps that do not touch each other.
 */

/** The steps of one execution, and what must come before what. */
export class Trace {
  readonly #steps: readonly Step[]
  /** Which of its actor's steps each one is, from 1. */
  readonly #ordinals: number[] = []
  /** For each step, and each actor: how many of that actor's steps come before. */
  readonly #clocks: number[][] = []
  /** The steps of each actor, as indexes. */
  readonly #own: number[][]
  /** For each actor's steps, mode and clock as text. */
  readonly #texts: string[][]

  constructor(steps: readonly Step[], actors: number) {
    this.#steps = steps
    this.#own = Array.from({ length: actors }, () => [])
    this.#texts = Array.from({ length: actors }, () => [])
    for (const [index, step] of steps.entries()) {
      this.#clocks.push(this.#clockOf(index, index))
      this.#ordinals.push(this.#ownOf(step.actor).push(index))
      this.#texts[step.actor]?.push(textOf(step, this.#clocks[index] ?? []))
    }
  }

  /** One line for all orders that come to the same: the one with the fewest preemptions. */
  get line(): { readonly steps: readonly Step[]; readonly preemptions: number } {
    return this.#line(this.#own.map((own) => own.length))
  }

  /**
   * Beginnings in which a race ends the other way: two steps of two actors that touch each other, with nothing between
   * that orders them. What follows on the first of the two is left out, and the second comes last.
   */
  *reversals() {
    for (const [later, { actor }] of this.#steps.entries()) {
      for (let earlier = later - 1; earlier >= 0; earlier -= 1)
        if (this.#steps[earlier]?.actor !== actor && this.#isRace(earlier, later) && this.#canComeFirst(earlier, later))
          yield this.#reverse(earlier, later)
    }
  }

  #ownOf(actor: number): number[] {
    return this.#own[actor] ?? []
  }

  /** Does the first of two steps come before the second in every order that comes to the same? */
  #isBefore(earlier: number, later: number): boolean {
    const actor = this.#steps[earlier]?.actor ?? 0
    return (this.#clocks[later]?.[actor] ?? 0) >= (this.#ordinals[earlier] ?? 0)
  }

  #isRace(earlier: number, later: number): boolean {
    if (!this.#isBefore(earlier, later)) return false
    for (let between = earlier + 1; between < later; between += 1)
      if (this.#isBefore(between, later) && this.#isBefore(earlier, between)) return false
    return true
  }

  /** The end of a pause cannot come before the only step that ends it, nor can time pass while an actor can go on. */
  #canComeFirst(earlier: number, later: number): boolean {
    const step = this.#steps[later]
    if (step?.wokenBy === undefined) return true
    if (step.wokenBy === 'time') return false
    const watched = new Set(step.touches.map(({ key }) => key))
    const asleep = this.#ownOf(step.actor)[(this.#ordinals[later] ?? 0) - 2] ?? -1
    return this.#steps.some(
      ({ touches }, index) =>
        index < later &&
        index !== earlier &&
        (asleep < 0 || this.#isBefore(asleep, index)) &&
        !this.#isBefore(earlier, index) &&
        isWaking(touches, watched),
    )
  }

  /** How many steps of each actor come before a step, looking only at those below `end` and not at `without`. */
  #clockOf(index: number, end: number, without = -1): number[] {
    const clock = this.#own.map(() => 0)
    const step = this.#steps[index]
    for (let other = end - 1; step && other >= 0; other -= 1) {
      const before = this.#steps[other]
      if (!before || other === without || (without >= 0 && this.#isBefore(without, other))) continue
      if ((clock[before.actor] ?? 0) >= (this.#ordinals[other] ?? 0)) continue
      if (before.actor !== step.actor && !isDependent(before.touches, step.touches)) continue
      for (const [actor, count] of (this.#clocks[other] ?? []).entries())
        clock[actor] = Math.max(clock[actor] ?? 0, count)
      clock[before.actor] = Math.max(clock[before.actor] ?? 0, this.#ordinals[other] ?? 0)
    }
    return clock
  }

  #reverse(earlier: number, later: number) {
    const counts = this.#own.map(
      (own) => own.filter((index) => index < later && index !== earlier && !this.#isBefore(earlier, index)).length,
    )
    const last = this.#steps[later]
    const { steps, preemptions } = this.#line(counts, later)
    const text = last ? textOf(last, this.#clockOf(later, later, earlier)) : ''
    /** Has an execution begun so already? */
    const isIn = (trace: Trace): boolean =>
      trace.#textOf(last?.actor, counts[last?.actor ?? 0]) === text && trace.#beginsLike(this, counts)
    return { steps, preemptions, isIn }
  }

  #textOf(actor = 0, index = 0): string | undefined {
    return this.#texts[actor]?.[index]
  }

  #beginsLike(other: Trace, counts: readonly number[]): boolean {
    return counts.every((count, actor) => {
      for (let index = 0; index < count; index += 1)
        if (this.#textOf(actor, index) !== other.#textOf(actor, index)) return false
      return true
    })
  }

  /** The first steps of each actor in a line, and one more at the end. */
  #line(counts: readonly number[], last?: number) {
    const lines = this.#own.map((_own, first) => this.#lineFrom(first, counts, last))
    return lines.reduce((best, line) => (line.preemptions < best.preemptions ? line : best))
  }

  /** Each actor goes as far as it can, beginning with one of them. */
  #lineFrom(first: number, counts: readonly number[], last: number | undefined) {
    const done = counts.map(() => 0)
    const steps: Step[] = []
    let [current, preemptions] = [first, 0]
    const isReady = (actor: number) => {
      const index = this.#ownOf(actor)[done[actor] ?? 0]
      const hasStep = index !== undefined && (done[actor] ?? 0) < (counts[actor] ?? 0)
      return hasStep && (this.#clocks[index] ?? []).every((count, other) => count <= (done[other] ?? 0))
    }
    const goTo = (actor: number) => {
      const isInterrupted = steps.length > 0 && (done[current] ?? 0) < this.#ownOf(current).length
      if (actor !== current && isInterrupted) preemptions += 1
      current = actor
    }
    for (;;) {
      const next = isReady(current) ? current : done.findIndex((_count, actor) => isReady(actor))
      if (next < 0) break
      goTo(next)
      const step = this.#steps[this.#ownOf(next)[done[next] ?? 0] ?? -1]
      if (step) steps.push(step)
      done[next] = (done[next] ?? 0) + 1
    }
    const end = last === undefined ? undefined : this.#steps[last]
    if (end) {
      goTo(end.actor)
      steps.push(end)
    }
    return { steps, preemptions }
  }
}

const textOf = ({ mode }: Step, clock: readonly number[]) => `${mode} ${clock.join()}`
