/** Defines a finding of the doctor: a result line, and below the line advice on how to fix the problem. */
import { Sso2ResponseError, Sso2UnavailableError } from '../errors'
import { EMULATOR_IN_PRODUCTION } from '../remote/http'

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
  const source = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if (typeof source !== 'object' || source === null) return 'unknown error'
  if ('code' in source && typeof source.code === 'string') return source.code
  return source instanceof Error ? source.name : 'unknown error'
}

const HELP: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start it, or correct host and port',
  ENOTFOUND: 'DNS does not know the host name: correct it, or add it to DNS',
  EAI_AGAIN: 'DNS does not answer: check /etc/resolv.conf and the network',
  ETIMEDOUT: 'a firewall may drop the packets: allow connections from this machine to the address',
  TimeoutError: 'a firewall may drop the packets: allow connections from this machine to the address',
  AbortError: 'a firewall may drop the packets: allow connections from this machine to the address',
  UND_ERR_CONNECT_TIMEOUT: 'a firewall may drop the packets: allow connections from this machine to the address',
  EHOSTUNREACH: 'this machine has no route to the address: check routes and firewall',
  ENETUNREACH: 'this machine has no route to the address: check routes and firewall',
  CERT_HAS_EXPIRED: 'renew the certificate of the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name: correct the address, or the certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'NODE_EXTRA_CA_CERTS=/path/to/ca.pem for doctor and site',
  SELF_SIGNED_CERT_IN_CHAIN: 'NODE_EXTRA_CA_CERTS=/path/to/ca.pem for doctor and site',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'NODE_EXTRA_CA_CERTS=/path/to/ca.pem for doctor and site',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the server must send its certificate chain, or NODE_EXTRA_CA_CERTS=/path/to/ca.pem for doctor and site',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server at this port does not use TLS: correct the port or the scheme',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server at this port does not use TLS: correct the port or the scheme',
}

/** Returns advice for a connection error code. */
export const helpFor = (code: string): string | undefined => (Object.hasOwn(HELP, code) ? HELP[code] : undefined)
