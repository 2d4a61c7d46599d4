/** What to do about a connection that fails, by its error code. Pure. */

const CA = 'its certificate is of an unknown authority: NODE_EXTRA_CA_CERTS=/path/to/ca.pem for doctor and site'
const CHAIN = `the server must send its certificate chain, or ${CA}`
const NO_TLS = 'the server at this port does not use TLS: correct the port or the scheme'
const TLS = 'the server does not answer in HTTP, it may use TLS: correct the port or the scheme'
const FIREWALL = 'a firewall may drop the packets: allow connections from this machine to the address'
const ROUTE = 'this machine has no route to the address: check routes and firewall'
const TLS_VERSION = 'server and Node.js have no TLS version or cipher in common: update the server'
const CLIENT_CERTIFICATE = 'the server requires a client certificate: set it in the option agent'

const ADVICE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there: start it, or correct host and port',
  ENOTFOUND: 'DNS does not know the host name: correct it, or add it to DNS',
  EAI_AGAIN: 'DNS does not answer: check /etc/resolv.conf and the network',
  ETIMEDOUT: FIREWALL,
  TimeoutError: FIREWALL,
  AbortError: FIREWALL,
  UND_ERR_CONNECT_TIMEOUT: FIREWALL,
  EHOSTUNREACH: ROUTE,
  ENETUNREACH: ROUTE,
  CERT_HAS_EXPIRED: 'its certificate has expired: renew the certificate of the server',
  CERT_NOT_YET_VALID: "its certificate is not valid yet: check this machine's clock, then the certificate",
  CERT_REVOKED: 'its certificate was revoked: renew the certificate of the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name: correct the address, or the certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: CA,
  SELF_SIGNED_CERT_IN_CHAIN: CA,
  UNABLE_TO_GET_ISSUER_CERT: CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHAIN,
  CERT_UNTRUSTED: CA,
  ERR_SSL_WRONG_VERSION_NUMBER: NO_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NO_TLS,
  HPE_INVALID_CONSTANT: TLS,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: TLS_VERSION,
  ERR_SSL_UNSUPPORTED_PROTOCOL: TLS_VERSION,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: TLS_VERSION,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: CLIENT_CERTIFICATE,
}

/** Returns the fix for an error code of a connection, if it is known. */
export const connectionAdvice = (code: string): string | undefined =>
  Object.hasOwn(ADVICE, code) ? ADVICE[code] : undefined
