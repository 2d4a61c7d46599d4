/** Keeps the active faults. The first fault that fits an operation and a session applies. */
import type { EmulatedOperation, FaultOptions } from './rules'

/** An active fault. `id` is for `clear`, and `times` counts the remaining responses. */
export type Fault = FaultOptions & { readonly id: string }

/** Keeps the faults of an emulator, in the order in which they were added. */
export class FaultList {
  private faults: Fault[] = []
  private nextId = 1

  /** Switches a fault on. */
  add(options: FaultOptions): Fault {
    const fault = { ...options, id: `fault-${this.nextId++}` }
    this.faults.push(fault)
    return fault
  }

  /** Returns the active faults. */
  list(): Fault[] {
    return [...this.faults]
  }

  /**
   * Switches a fault off, or all faults without an ID.
   * @returns whether a fault was switched off
   */
  clear(id?: string): boolean {
    const kept = id === undefined ? [] : this.faults.filter((fault) => fault.id !== id)
    const hadSome = kept.length < this.faults.length
    this.faults = kept
    return hadSome
  }

  /** Returns the fault for a call, if any, and counts the call. */
  take(operation: EmulatedOperation, sid: string | null): Fault | undefined {
    const fault = this.faults.find((f) => f.operation === operation && (f.sid === undefined || f.sid === sid))
    if (fault?.times === undefined) return fault
    const left: Fault[] = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
    this.faults = this.faults.flatMap((other) => (other === fault ? left : [other]))
    return fault
  }
}
