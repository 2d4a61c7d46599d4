/** The faults that are switched on. The first one that fits an operation and session hits it. */
import type { EmulatedOperation, FaultOptions } from './rules'

/** A fault that is switched on: `id` is for `clear`, and `times` how many answers it still hits. */
export type Fault = FaultOptions & { readonly id: string }

/** The faults of one emulator, in the order in which they were added. */
export class FaultList {
  private faults: Fault[] = []
  private nextId = 1

  /** Switches a fault on. */
  add(options: FaultOptions): Fault {
    const fault = { ...options, id: `fault-${this.nextId++}` }
    this.faults.push(fault)
    return fault
  }

  /** What is switched on now. */
  list(): Fault[] {
    return [...this.faults]
  }

  /** Switches one fault off, or all of them when no ID is given; says whether there was one. */
  clear(id?: string): boolean {
    const kept = id === undefined ? [] : this.faults.filter((fault) => fault.id !== id)
    const hadSome = kept.length < this.faults.length
    this.faults = kept
    return hadSome
  }

  /** The fault that hits this call, if any; counts it. */
  take(operation: EmulatedOperation, sid: string | null): Fault | undefined {
    const fault = this.faults.find((f) => f.operation === operation && (f.sid === undefined || f.sid === sid))
    if (fault?.times === undefined) return fault
    const left: Fault[] = fault.times > 1 ? [{ ...fault, times: fault.times - 1 }] : []
    this.faults = this.faults.flatMap((other) => (other === fault ? left : [other]))
    return fault
  }
}
