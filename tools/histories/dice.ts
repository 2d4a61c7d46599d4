/** Random numbers from 0 to 1 that a seed repeats. */
export function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** A random number from 0 to 1 that a seed repeats. */
export type Dice = () => number

export const pick = <T>(roll: Dice, list: readonly T[]): T => list[Math.floor(roll() * list.length)] as T

export function pickBy<T>(roll: Dice, list: readonly (readonly [weight: number, value: T])[]): T {
  let left = roll() * list.reduce((sum, [weight]) => sum + weight, 0)
  for (const [weight, value] of list) {
    left -= weight
    if (left < 0) return value
  }
  return list.at(-1)?.[1] as T
}
