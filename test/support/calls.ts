import type { Call, Emulator } from '../../lib/emulator'

/** The package's name for itself where it asks how the SSO system is: it does so whenever no request has heard of it for a while. */
const OWN = 'express-sso2'

/** Calls of an operation, or of all, for browsers. Leaves out the calls by which the package probes the SSO system. */
export function browserCalls(emulator: Pick<Emulator, 'calls'>, operation?: string): readonly Call[] {
  return emulator.calls(operation === undefined ? {} : { operation }).filter(({ claims }) => claims['uas'] !== OWN)
}
