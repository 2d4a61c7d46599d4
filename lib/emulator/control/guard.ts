/** Keeps web pages of other sites, and names that point to this machine, away from controls and portal. */
import type { RequestHandler, Response } from 'express'

/** Lets requests pass that are addressed to a loopback host: a foreign name that resolves to it is refused. */
export const loopbackHostOnly: RequestHandler = (req, res, next) => {
  if (isLoopback(hostName(req.headers.host))) next()
  else refuse(res, 'the Host header must name a loopback host')
}

/** Besides, refuses requests that a page of another site made: controls are for tests and the portal. */
export const sameOriginOnly: RequestHandler = (req, res, next) => {
  const { host, origin } = req.headers
  const site = req.headers['sec-fetch-site'] ?? 'none'
  const isForeign = (site !== 'none' && site !== 'same-origin') || (origin !== undefined && origin !== `http://${host}`)
  if (!isLoopback(hostName(host))) refuse(res, 'the Host header must name a loopback host')
  else if (isForeign) refuse(res, 'controls do not take requests that other sites make')
  else next()
}

function refuse(res: Response, message: string): void {
  res.status(403).json({ error: { code: 'forbidden', message } })
}

function hostName(host: string | undefined): string {
  const address = `http://${host ?? ''}`
  return URL.canParse(address) ? new URL(address).hostname : ''
}

function isLoopback(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)
}
