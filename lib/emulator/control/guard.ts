/** Keeps web pages of other sites, and names that point to this machine, away from controls and portal. */
import { isIP } from 'node:net'
import type { RequestHandler, Response } from 'express'
import type { Runtime } from '../runtime'

/** Lets requests pass that are addressed to this machine by a name of its own: a foreign name that resolves to it is refused. */
export function ownHostOnly(runtime: Runtime): RequestHandler {
  return (req, res, next) => {
    if (isOwnHost(runtime, req.headers.host)) next()
    else refuse(res, hostMessage(runtime))
  }
}

/** Besides, refuses requests that a page of another site made: controls are for tests and the portal. */
export function sameOriginOnly(runtime: Runtime): RequestHandler {
  return (req, res, next) => {
    const { host, origin } = req.headers
    const site = req.headers['sec-fetch-site'] ?? 'none'
    const isForeign =
      (site !== 'none' && site !== 'same-origin') || (origin !== undefined && origin !== `http://${host}`)
    if (!isOwnHost(runtime, host)) refuse(res, hostMessage(runtime))
    else if (isForeign) refuse(res, 'controls do not take requests that other sites make')
    else next()
  }
}

function refuse(res: Response, message: string): void {
  res.status(403).json({ error: { code: 'forbidden', message } })
}

function hostMessage({ isOpen }: Runtime): string {
  return isOpen
    ? 'the Host header must be an address, a name without a dot, or a loopback host'
    : 'the Host header must name a loopback host'
}

/** Where others may come, they come by an address or by the name of a container: nobody can point those here from outside. */
function isOwnHost({ isOpen }: Runtime, host: string | undefined): boolean {
  const address = `http://${host ?? ''}`
  const name = URL.canParse(address) ? new URL(address).hostname : ''
  if (isLoopbackName(name)) return true
  return isOpen && name !== '' && (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.'))
}

/** Does this host of an address name this very machine? */
export function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}
