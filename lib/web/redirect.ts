/** Redirects: the Location is exactly what was computed, the body is empty, nothing is cached. Threats R5, R10, R11. */
import { randomBytes } from 'node:crypto'
import type { Response } from 'express'
import { makeBinding } from '../decide/binding'
import { countTrip, forgetTrip, pageKey, writeTrips } from '../decide/loop-guard'
import { withFlowParameter, withoutFlowParameter } from '../decide/return-to'
import { setCookie } from './cookies'
import { publish } from './events'
import { bindingOf, tripsOf, type Visit } from './visit'

/** How long the trip counts are kept, in seconds. */
export const TRIPS_SECONDS = 60

/** Headers of every answer that carries or follows a token. */
export function setPrivate(res: Response): void {
  res.setHeader('cache-control', 'no-store')
  res.setHeader('referrer-policy', 'no-referrer')
}

/** Redirects without Express rewriting the address. @param status 302 for a GET, 303 after a POST */
export function redirect(res: Response, address: string, status: 302 | 303): void {
  setPrivate(res)
  res.statusCode = status
  res.setHeader('location', address)
  res.end()
}

/** The Identify address of this browser for one page; sets the binding cookie when there is none. */
export function identifyAddress(visit: Visit, page: string): string {
  const { site, res } = visit
  let binding = bindingOf(visit)
  if (binding === undefined) {
    binding = randomBytes(16).toString('base64url')
    setCookie(res, site.config, site.config.cookies.binding, binding)
  }
  const parameter = makeBinding(site.config.macKeys(), binding, site.now())
  return site.client.identifyUrl(withFlowParameter(page, parameter))
}

/** Sends the browser through Identify and counts the trip. */
export function sendToIdentify(visit: Visit, address: string, because: string): void {
  const { site, req, res } = visit
  const page = withoutFlowParameter(address)
  const name = pageKey(page)
  const known = visit.hadRecord ? forgetTrip(tripsOf(visit), name) : tripsOf(visit)
  const trips = countTrip(known, name, site.now())
  setCookie(res, site.config, site.config.cookies.loop, writeTrips(trips), TRIPS_SECONDS)
  site.client.noteIdentify()
  publish('identify', { operation: 'identify', outcome: 'redirected', durationMs: 0, reason: because })
  redirect(res, identifyAddress(visit, page), req.method === 'GET' ? 302 : 303)
}
