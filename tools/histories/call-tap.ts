import type { Call, Emulator } from '../../lib/emulator'
import type { Asked } from './entries'

/** The platform keeps the latest calls only, and their times in seconds: they are taken as they come. */
const EVERY_MS = 50

/** All calls that an emulator has had. */
export class CallTap {
  readonly #all: Asked[] = []
  #last: Call | undefined
  readonly #timer: NodeJS.Timeout

  constructor(private readonly emulator: Emulator) {
    this.#timer = setInterval(() => this.#take(), EVERY_MS)
  }

  all(): readonly Asked[] {
    this.#take()
    return this.#all
  }
  close(): void {
    clearInterval(this.#timer)
  }

  #take(): void {
    const calls = this.emulator.calls()
    const from = this.#last === undefined ? 0 : calls.lastIndexOf(this.#last) + 1
    const seen = performance.now()
    for (const call of calls.slice(from)) this.#all.push(asked(call, seen))
    this.#last = calls.at(-1) ?? this.#last
  }
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined)

function asked({ operation, at, sid, claims, outcome, fault }: Call, seen: number): Asked {
  return {
    operation,
    clock: at,
    seen,
    sid: sid ?? undefined,
    username: textIn(claims['usr']),
    aid: textIn(claims['aid']),
    lks: textIn(claims['lks']),
    outcome,
    isSpoilt: fault !== undefined,
  }
}
