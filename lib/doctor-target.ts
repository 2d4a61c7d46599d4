/** The configuration that `doctor` checks: from the environment, or from the `sso2()` that a module exports. */
import type { Config } from './config'
import type { ExchangeTicket, TicketExchange } from './remote/token-endpoint'

/** Configuration of a site. */
export interface DoctorTarget {
  readonly config: Config
  /** The site's own ticket exchange, if there is any. */
  readonly exchangeTicket: ExchangeTicket | undefined
  readonly ticketExchange: TicketExchange
  /** Does the site have its own `loadUser`? `doctor` does not call `userPath` then. */
  readonly namesUsers: boolean
  close(): Promise<void>
}

/** Shared by all copies of the package, because the command and the site may have loaded different copies. */
const DOCTOR_TARGET = Symbol.for('express-sso2.examined')

/** Lets `doctor` examine an `sso2()`. A listing of the properties does not show the target. */
export function makeDoctorTarget<T extends object>(handler: T, examined: DoctorTarget): T {
  return Object.defineProperty(handler, DOCTOR_TARGET, { value: () => examined })
}

/** Returns the doctor target of a value, if the value is an `sso2()`. */
export function doctorTargetOf(value: unknown): DoctorTarget | undefined {
  if (typeof value !== 'function') return undefined
  const tell: unknown = Reflect.get(value, DOCTOR_TARGET)
  return typeof tell === 'function' ? (tell() as DoctorTarget) : undefined // only makeDoctorTarget writes this property
}
