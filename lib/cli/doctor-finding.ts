/** What the doctor finds: one line each, and below it the line that helps. */
import { Sso2UnavailableError } from '../errors'

/** `note` is something to think about that keeps nobody from logging in. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong'
  readonly what: string
  readonly says: string
  /** What to do about it: a setting, a command, a line of code. */
  readonly help?: string | undefined
  /** A place that gives no answer at all: what needs it cannot be looked at. */
  readonly away?: string | undefined
}

/** Redis, or whatever keeps the sessions, as a place that may be away. */
export const STORE = 'Redis'

/** The place of an address: what listens there answers for all of its paths. */
export const placeOf = (address: string): string => new URL(address).origin

/** A finding after which nothing else of a place can be looked at. */
export const awayAt = (place: string, finding: Finding): Finding => ({ ...finding, away: place })

/** A call without any answer speaks for its whole place, and a status or a refusal for itself. */
export const ofFailedCall = (error: unknown, address: string, finding: Finding): Finding =>
  error instanceof Sso2UnavailableError ? awayAt(placeOf(address), finding) : finding

/** Findings of one subject. */
export const about = (what: string) => ({
  ok: (says: string): Finding => ({ state: 'ok', what, says }),
  note: (says: string, help?: string): Finding => ({ state: 'note', what, says, help }),
  wrong: (says: string, help?: string): Finding => ({ state: 'wrong', what, says, help }),
})

/** Code or name of an error: enough to act on, and never a value. */
export function codeOf(error: unknown): string {
  const source = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (typeof source !== 'object' || source === null) return 'unknown error'
  if ('code' in source && typeof source.code === 'string') return source.code
  return source instanceof Error ? source.name : 'unknown error'
}

const HELP: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start it, or correct host and port',
  ENOTFOUND: 'no name server knows the host: correct it, or add it to DNS',
  EAI_AGAIN: 'no name server answers: look at /etc/resolv.conf and the network',
  ETIMEDOUT: 'a firewall may drop the packets: let this machine out to the address',
  TimeoutError: 'a firewall may drop the packets: let this machine out to the address',
  AbortError: 'a firewall may drop the packets: let this machine out to the address',
  UND_ERR_CONNECT_TIMEOUT: 'a firewall may drop the packets: let this machine out to the address',
  EHOSTUNREACH: 'no way leads there from this machine: look at routes and firewall',
  ENETUNREACH: 'no way leads there from this machine: look at routes and firewall',
  CERT_HAS_EXPIRED: 'renew the certificate of the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name: correct the address, or the certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'NODE_EXTRA_CA_CERTS=/path/to/that-authority.pem, for doctor and site',
  SELF_SIGNED_CERT_IN_CHAIN: 'NODE_EXTRA_CA_CERTS=/path/to/that-authority.pem, for doctor and site',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'NODE_EXTRA_CA_CERTS=/path/to/that-authority.pem, for doctor and site',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the server must send its chain; or NODE_EXTRA_CA_CERTS=/path/to/that-authority.pem',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS is spoken at that port: correct the port, or the scheme',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no TLS is spoken at that port: correct the port, or the scheme',
}

/** What helps against a connection that failed with this code. */
export const helpFor = (code: string): string | undefined => (Object.hasOwn(HELP, code) ? HELP[code] : undefined)
