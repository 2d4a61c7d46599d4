import { setTimeout as sleep } from 'node:timers/promises'
import { type Dice, pick, pickBy } from './dice'
import type { Ended, Trouble } from './entries'
import { type Fault, faults, mend, platformAway, times } from './faults'
import type { Setup } from './setup'

/** What the nemesis did. */
export interface Doings {
  readonly troubles: Trouble[]
  readonly ends: Ended[]
}

/** Rounds, and how long the fault lasts and the calm after it, in milliseconds. */
interface Round {
  readonly lasts: readonly [number, number]
  readonly calm: readonly [number, number]
}
const rounds: readonly (readonly [weight: number, round: Round])[] = [
  [40, { lasts: [100, 600], calm: [100, 400] }],
  [1, { lasts: [8000, 9000], calm: [100, 400] }],
  [1, { lasts: [100, 600], calm: [8000, 12_000] }],
]
/** What follows when time passes and nothing is wrong. */
const QUIET: readonly [number, number] = [200, 500]

const between = (roll: Dice, [least, most]: readonly [number, number]) => least + roll() * (most - least)

/** Breaks one thing or two, mends them, and so on until it is over. */
export async function nemesis(setup: Setup, roll: Dice, doings: Doings, isOver: () => boolean): Promise<void> {
  const any = () => pick(roll, roll() < 0.25 ? setup.store.faults : faults)
  while (!isOver()) {
    const { lasts, calm } = pickBy(roll, rounds)
    const isLong = lasts[0] > 1000
    const chosen = [isLong ? pick(roll, platformAway) : any()]
    if (roll() < 0.4) chosen.push(any())
    if (roll() < 0.3) chosen.splice(Math.floor(roll() * (chosen.length + 1)), 0, pick(roll, times))
    await suffer(setup, chosen, roll, doings, () => pause(between(roll, lasts), isOver))
    await pause(between(roll, calm), isOver)
    if (roll() < 0.6) endElsewhere(setup, roll, doings)
    if (roll() < 0.5) await suffer(setup, [pick(roll, times)], roll, doings, () => pause(between(roll, QUIET), isOver))
  }
}

/** Waits so many milliseconds, or until it is over. */
export async function pause(ms: number, isOver: () => boolean): Promise<void> {
  for (const end = performance.now() + ms; !isOver() && performance.now() < end; ) await sleep(50)
}

/** Some faults, for a while. */
export async function suffer(
  setup: Setup,
  chosen: readonly Fault[],
  roll: Dice,
  { troubles }: Doings,
  wait: () => Promise<void>,
): Promise<void> {
  const now = () => ({ ms: performance.now(), clock: setup.clock() })
  const begun: { fault: Fault; from: ReturnType<typeof now>; to: ReturnType<typeof now> | undefined }[] = []
  for (const fault of chosen) {
    const from = now()
    await fault.begin(setup, roll)
    begun.push({ fault, from, to: fault.isShort ? now() : undefined })
  }
  await wait()
  for (const fault of chosen) await fault.end?.(setup)
  await mend(setup)
  for (const { fault, from, to = now() } of begun) {
    const { part, also = [], name } = fault
    const span = { begin: from.ms, end: to.ms, clockBegin: from.clock, clockEnd: to.clock }
    for (const one of [part, also].flat()) troubles.push({ part: one, name, ...span })
  }
}

/** SSO sessions end at the platform: all, as after a change of passwords; one account's; or one session that is forgotten. */
function endElsewhere({ emulator, clock }: Setup, roll: Dice, { ends }: Doings): void {
  const begin = performance.now()
  const active = emulator.sessions().filter(({ status }) => status === 'loggedin')
  const one = pick(roll, active)
  if (!one) return
  const kind = roll()
  const account = kind < 0.3 ? undefined : (one.accountId ?? '').replace('account-', '')
  const chosen = account === undefined ? active : active.filter(({ accountId }) => accountId === one.accountId)
  for (const { sid } of chosen) {
    if (kind < 0.7) emulator.terminate(sid)
    else emulator.prune(sid)
  }
  ends.push({ begin, end: performance.now(), clock: clock(), account })
}
