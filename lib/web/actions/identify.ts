/** Identify: the browser's trip through the SSO system, its binding to the browser, and the count of such trips. */
import { randomBytes } from 'node:crypto'
import { flowBeginning, makeBinding } from '../../decide/binding'
import type { BindingFinding } from '../../decide/landing'
import {
  countTrip,
  isLastTrip,
  isPageKey,
  noteShown,
  readTrip,
  supernumerary,
  TRIPS_SECONDS,
  type Trip,
  writeTrip,
} from '../../decide/loop-guard'
import { flowParameterOf, withFlowParameter } from '../../decide/return-to'
import { publish } from '../events'
import { atHead, makePrivate } from '../http/caching'
import { dropCookie, setCookie } from '../http/cookies'
import { redirect } from '../http/redirect'
import { cookiesUnder } from '../http/request-facts'
import { mayHaveTrips, pageOf, tripCookie, tripFor, type Visit } from '../visit'

/** The Identify address of this browser for one page; sets the binding cookie when there is none. @param trip the trip that it is for, where that counts */
export function identifyAddress(visit: Visit, page: string, trip?: Trip): string {
  const { site, res, browser } = visit
  if (browser.binding === undefined) {
    browser.binding = randomBytes(16).toString('base64url')
    setCookie(res, site.config, site.config.cookies.binding, browser.binding)
  }
  const parameter = makeBinding(site.macKeys, browser.binding, site.now(), trip && isLastTrip(trip))
  return site.client.identifyUrl(withFlowParameter(page, parameter))
}

/** Sends the browser through Identify to a page, without our parameter, and counts the trip. */
export function sendToIdentify(visit: Visit, page: string, because: string): void {
  const { site, req, res } = visit
  const trip = countTrip(tripFor(visit, page), site.now())
  setTrip(visit, page, trip)
  site.front.noteRedirect()
  publish('identify', { operation: 'identify', outcome: 'redirected', durationMs: 0, reason: because })
  redirect(res, identifyAddress(visit, page, trip), req.method === 'GET' ? 302 : 303)
}

/** Notes that a browser came back from Identify with a good token. Only an address of ours tells when it was redirected there. */
export function noteReturn({ site: { front, now } }: Visit, binding: BindingFinding, returnTo: string): void {
  front.noteCookies(binding !== 'no_cookies')
  front.noteReturn((binding === 'bound' ? flowBeginning(flowParameterOf(returnTo)) : undefined) ?? now())
}

/** Notes the browser's trips for a page, where they have changed. @param trip `undefined`: forgotten */
export function setTrip(visit: Visit, page: string, trip: Trip | undefined): void {
  const { site, res } = visit
  const { config } = site
  const before = tripFor(visit, page)
  const name = tripCookie(site, page)
  if (trip === undefined) {
    if (before) dropCookie(res, config, name)
    return
  }
  if (before && writeTrip(before) === writeTrip(trip)) return
  setCookie(res, config, name, writeTrip(trip), TRIPS_SECONDS)
  if (!before) forgetOldest(visit, name)
}

function forgetOldest({ site: { config, now }, req, res }: Visit, newest: string): void {
  const prefix = config.cookies.loop
  const isOther = (name: string) => name !== newest && isPageKey(name.slice(prefix.length))
  const others = [...cookiesUnder(req, prefix)].filter(([name]) => isOther(name))
  const trips = new Map(others.map(([name, value]) => [name, readTrip(value, now())]))
  for (const name of supernumerary(trips)) dropCookie(res, config, name)
}

/** A trip is forgotten when its page is served with the session it brought: asked when the answer's head is written. */
export function forgetTripWhenServed(visit: Visit, isServed: () => boolean): void {
  setTripAtHead(visit, (trip) => (isServed() ? undefined : trip))
}

/** The guard has the page shown, and with that the chain of redirects has ended, unless the page itself leads on. */
export function noteShownByGuard(visit: Visit): void {
  const { site, res } = visit
  setTripAtHead(visit, (trip) => (res.hasHeader('location') ? trip : noteShown(trip, site.now())))
}

function setTripAtHead(visit: Visit, change: (trip: Trip) => Trip | undefined): void {
  const page = mayHaveTrips(visit) ? pageOf(visit) : undefined
  const trip = page === undefined ? undefined : tripFor(visit, page)
  if (page === undefined || trip === undefined) return
  atHead(visit.res, () => {
    const changed = change(trip)
    if (changed && writeTrip(changed) === writeTrip(trip)) return
    setTrip(visit, page, changed)
    makePrivate(visit.res)
  })
}
