import { setTimeout as sleep } from 'node:timers/promises'
import type { FaultOptions } from '../../lib/emulator'
import { type Dice, pick } from './dice'
import type { Part } from './entries'
import type { Setup } from './setup'

/** Something that breaks, and how it is mended where `mend` does not do it. */
export interface Fault {
  readonly part: Part
  /** Another part that is in trouble by it. */
  readonly also?: Part
  readonly name: string
  begin(setup: Setup, roll: Dice): Promise<unknown> | unknown
  end?(setup: Setup): Promise<unknown> | unknown
  /** It is over when `begin` is. */
  readonly isShort?: boolean
}

type Operation = FaultOptions['operation']
const BACK: readonly Operation[] = ['authenticate', 'sessionstatus', 'logout', 'logoutall']

function answers(name: string, fault: object, operations: readonly Operation[]): Fault {
  const begin = ({ emulator }: Setup) => {
    for (const operation of operations) emulator.faults.add({ operation, ...fault } as FaultOptions)
  }
  return { part: 'platform', name, begin }
}

const anyProcess = ({ processes }: Setup, roll: Dice) => pick(roll, processes)

function skew(name: string, seconds: number): Fault {
  return {
    part: 'clock',
    name,
    begin: (setup, roll) => anyProcess(setup, roll).setSkew(seconds * 1000),
    end: ({ processes }) => Promise.all(processes.map((one) => one.setSkew(0))),
  }
}

const restarts = (name: string, signal: 'SIGKILL' | 'SIGTERM'): Fault => ({
  part: 'process',
  name,
  begin: async (setup, roll) => {
    const one = anyProcess(setup, roll)
    await one.stop(signal)
    await one.start()
  },
  isShort: true,
})

const passing = (seconds: number): Fault => ({
  part: 'time',
  name: `${seconds} s pass`,
  begin: (setup) => setup.advance(seconds),
  isShort: true,
})

export const platformDown: Fault = {
  part: 'platform',
  name: 'platform refuses connections',
  begin: ({ ssoFront }) => ssoFront.down(),
}

/** The platform goes away as a whole. */
export const platformAway: readonly Fault[] = [
  platformDown,
  { part: 'platform', name: 'platform hangs', begin: ({ ssoFront }) => ssoFront.stall() },
  answers('platform answers 503', { kind: 'status', code: 503 }, [...BACK, 'identify', 'token', 'me']),
]

/** Everything that a history may meet beside what happens to its store. */
export const faults: readonly Fault[] = [
  ...platformAway,
  { part: 'platform', name: 'platform is slow', begin: ({ ssoFront }) => ssoFront.delay(150) },
  { part: 'platform', name: 'connections to the platform go silent', begin: ({ ssoFront }) => ssoFront.silence() },
  answers('back channel 503', { kind: 'status', code: 503 }, BACK),
  answers('back channel 429', { kind: 'status', code: 429 }, BACK),
  answers('answers are lost', { kind: 'drop_after_commit' }, BACK),
  answers('garbage', { kind: 'garbage' }, BACK),
  answers('answers about another session', { kind: 'wrong_session' }, BACK),
  answers('tokens refused', { kind: 'error', code: 'invalid_token' }, BACK),
  answers('signatures wrong', { kind: 'wrong_signature' }, BACK),
  answers('Identify 503', { kind: 'status', code: 503 }, ['identify']),
  answers('landing tokens expired', { kind: 'expired' }, ['identify']),
  answers('token endpoint down', { kind: 'down' }, ['token']),
  answers('user endpoint 500', { kind: 'status', code: 500 }, ['me']),
  answers('user endpoint slow', { kind: 'slow', ms: 300 }, ['me']),
  restarts('a process is killed', 'SIGKILL'),
  restarts('a process is told to end', 'SIGTERM'),
  {
    part: 'process',
    name: 'a process stands still',
    begin: async (setup, roll) => {
      const one = anyProcess(setup, roll)
      one.pause()
      await sleep(200 + roll() * 1300)
      one.goOn()
    },
    isShort: true,
  },
  skew('a clock is 30 s ahead', 30),
  skew('a clock is 40 s behind', -40),
  skew('a clock is an hour ahead', 3600),
]

/** Time passes: not yet stale, stale, past the grace. */
export const times: readonly Fault[] = [passing(200), passing(400), passing(1300)]

export async function mend({ emulator, ssoFront, store }: Setup): Promise<void> {
  emulator.faults.clear()
  ssoFront.heal()
  await Promise.all([ssoFront.up(), store.mend()])
}
