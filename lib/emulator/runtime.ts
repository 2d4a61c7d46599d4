/** State of a running emulator: platform, clock, faults, log, and listeners that are notified of changes. */
import type { EpochSeconds } from '../protocol/claims'
import type { Config } from './config/options'
import { FaultList } from './faults/list'
import { CallLog } from './platform/calls'
import { TraceLog } from './platform/traces'
import { createWorld, type World } from './platform/world'

/** The emulator's clock. Pass the clock to a site as the `clock` option. */
export interface EmulatorClock {
  /** Returns the time in epoch milliseconds. */
  now(): number
  /**
   * Moves the clock forward.
   * @param seconds zero or more
   * @throws {RangeError} if `seconds` is negative, too large, or no number
   */
  advance(seconds: number): void
}

/** Holds the state and the parts of an emulator. */
export class Runtime {
  readonly faults = new FaultList()
  readonly log = new CallLog()
  readonly traces = new TraceLog()
  readonly clock: EmulatorClock
  world: World
  /** Can other machines connect? Set after `listen`. */
  isOpen = false
  private aheadMs: number
  private readonly listeners = new Set<() => void>()
  private readonly timers = new Set<NodeJS.Timeout>()

  constructor(readonly config: Config) {
    this.aheadMs = config.clockAheadSeconds * 1000
    this.clock = { now: () => Date.now() + this.aheadMs, advance: (seconds) => this.advance(seconds) }
    this.world = createWorld(config, this.now())
    for (const fault of config.faults) this.faults.add(fault)
  }

  /** Returns the emulator's time in whole seconds. */
  now(): EpochSeconds {
    return Math.floor(this.clock.now() / 1000)
  }

  /** Returns the time for tokens: the emulator's or the system's (option `tokenTime`). */
  tokenNow(): EpochSeconds {
    return this.config.tokenTime === 'virtual' ? this.now() : Math.floor(Date.now() / 1000)
  }

  /** Returns the seconds by which the clock is ahead of the system's. */
  aheadSeconds(): number {
    return this.aheadMs / 1000
  }

  /** Restores the configuration: platform, clock, faults and log. */
  reset(): void {
    this.stop()
    this.aheadMs = this.config.clockAheadSeconds * 1000
    this.world = createWorld(this.config, this.now())
    this.faults.clear()
    for (const fault of this.config.faults) this.faults.add(fault)
    this.log.clear()
    this.traces.clear()
    this.changed()
  }

  /** Notifies every listener of a change. */
  changed(): void {
    for (const listener of this.listeners) listener()
  }

  /** Adds an event without a call to the flow of a session. */
  addEvent(sid: string, event: string): void {
    this.traces.add({ at: this.clock.now(), sid, event })
  }

  /**
   * Calls `listener` at each change.
   * @returns a function that removes the listener
   */
  onChange(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  /** Runs `work` after `ms` milliseconds, unless the emulator is reset or closed before. */
  later(ms: number, work: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer)
      work()
    }, ms)
    this.timers.add(timer)
  }

  /** Drops all waiting work. */
  stop(): void {
    for (const timer of this.timers) clearTimeout(timer)
    this.timers.clear()
  }

  private advance(seconds: number): void {
    const isAllowed = Number.isFinite(seconds) && seconds >= 0 && this.aheadMs + seconds * 1000 <= 1e13
    if (!isAllowed) throw new RangeError('advance: a number of seconds that is not negative is needed')
    this.aheadMs += seconds * 1000
    this.changed()
  }
}
