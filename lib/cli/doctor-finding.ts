/** Defines a finding of the doctor: a result line, and below the line advice on how to fix the problem. */
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { EMULATOR_IN_PRODUCTION } from '../remote/http'
import { errorMessage } from './error-message'

/** `wrong` prevents logins. `note` deserves attention, but users can log in. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong'
  readonly what: string
  readonly says: string
  /** Advice: a setting, a command or a line of code. */
  readonly help?: string | undefined
  /** Server that does not respond at all. Checks that need the server are skipped. */
  readonly away?: string | undefined
}

/** Names the session store as a server that can be unavailable. */
export const STORE = 'Redis'

/** Returns the origin of an address, because all paths of an origin are on the same server. */
export const addressOrigin = (address: string): string => new URL(address).origin

/** Adds the unreachable server to a finding, so that later checks of the server are skipped. */
export const unavailableAt = (place: string, finding: Finding): Finding => ({ ...finding, away: place })

/** Adds the server to a finding if the call got no response. An error status or a refused token concerns only the call itself. */
export const ofFailedCall = (error: unknown, address: string, finding: Finding): Finding =>
  error instanceof Sso2UnavailableError ? unavailableAt(addressOrigin(address), finding) : finding

/** Returns why a call has failed, without the name of the operation, which is in the finding. */
export const callFailure = (error: unknown): string => errorMessage(error).replace(/^\w+: /, '')

/** Returns the advice for a response of the emulator that production refuses. @returns undefined for another error */
export const emulatorHelp = (error: unknown): string | undefined =>
  error instanceof Sso2ResponseError && error.message.includes(EMULATOR_IN_PRODUCTION)
    ? 'use the addresses of the platform, or unset NODE_ENV to work with the emulator'
    : undefined

/** Creates findings about a subject. */
export const about = (what: string) => ({
  ok: (says: string): Finding => ({ state: 'ok', what, says }),
  note: (says: string, help?: string): Finding => ({ state: 'note', what, says, help }),
  wrong: (says: string, help?: string): Finding => ({ state: 'wrong', what, says, help }),
})

/** Returns the code or the name of an error, and never its message, because a message can contain secret values. */
export function errorCode(error: unknown): string {
  const { cause, code, name } = Object(error)
  const names: unknown[] = [Object(cause).code, code, name]
  return names.find((one) => typeof one === 'string') ?? 'unknown error'
}
