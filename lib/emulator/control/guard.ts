/** Protects controls and portal from pages of other sites, and from foreign host names that resolve to this machine. */
import { isIP } from 'node:net'
import type { RequestHandler, Response } from 'express'
import type { Runtime } from '../runtime'

/** Accepts requests to a host name of this machine only. An attacker's name that resolves here is refused (DNS rebinding). */
export function ownHostOnly(runtime: Runtime): RequestHandler {
  return (req, res, next) => {
    if (isOwnHost(runtime, req.headers.host)) next()
    else sendForbidden(res, hostMessage(runtime))
  }
}

/** Also refuses requests from pages of other sites, because controls are only for tests and the portal. */
export function sameOriginOnly(runtime: Runtime): RequestHandler {
  return (req, res, next) => {
    const { host, origin } = req.headers
    const site = req.headers['sec-fetch-site'] ?? 'none'
    const isForeign =
      (site !== 'none' && site !== 'same-origin') || (origin !== undefined && origin !== `http://${host}`)
    if (!isOwnHost(runtime, host)) sendForbidden(res, hostMessage(runtime))
    else if (isForeign) sendForbidden(res, 'controls do not take requests that other sites make')
    else next()
  }
}

function sendForbidden(res: Response, message: string): void {
  res.status(403).json({ error: { code: 'forbidden', message } })
}

function hostMessage({ isOpen }: Runtime): string {
  return isOpen
    ? 'the Host header must be an address, a name without a dot, or a loopback host'
    : 'the Host header must name a loopback host'
}

/**
 * If other machines can connect, also accepts IP addresses and names without a dot, such as container names.
 * An attacker outside cannot make such names resolve to this machine.
 */
function isOwnHost({ isOpen }: Runtime, host: string | undefined): boolean {
  if (host === undefined || !URL.canParse(`http://${host}`)) return false
  const name = new URL(`http://${host}`).hostname
  if (isLoopbackName(name)) return true
  return isOpen && (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.'))
}

/** Is this a loopback host name? */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}
