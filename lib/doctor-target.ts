/** What `doctor` looks at: the configuration of a site, from the environment or from the `sso2()` that a module exports. */
import type { Config } from './config'
import type { ExchangeTicket, TicketExchange } from './remote/ticket'

/** One site as it is configured. */
export interface DoctorTarget {
  readonly config: Config
  /** The site's own ticket exchange, where it has one. */
  readonly exchangeTicket: ExchangeTicket | undefined
  readonly ticketExchange: TicketExchange
  /** The site names its users itself; `userPath` is not asked. */
  readonly namesUsers: boolean
  close(): Promise<void>
}

/** The same in every copy of the package: the one of the command is not always the site's. */
const DOCTOR_TARGET = Symbol.for('express-sso2.examined')

/** Lets a `sso2()` be examined. What it holds shows in no listing of its properties. */
export function makeDoctorTarget<T extends object>(handler: T, examined: DoctorTarget): T {
  return Object.defineProperty(handler, DOCTOR_TARGET, { value: () => examined })
}

/** The site behind a value, if it is a `sso2()`. */
export function doctorTargetOf(value: unknown): DoctorTarget | undefined {
  if (typeof value !== 'function') return undefined
  const tell: unknown = Reflect.get(value, DOCTOR_TARGET)
  return typeof tell === 'function' ? (tell() as DoctorTarget) : undefined // written by makeExamined alone
}
