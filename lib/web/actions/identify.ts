/** Identify: the browser's trip through the SSO system, its binding to the browser, and the count of such trips. */
import { randomBytes } from 'node:crypto'
import { makeBinding } from '../../decide/binding'
import {
  countTrip,
  forgetTrip,
  hasTrip,
  noteShown,
  pageKey,
  TRIPS_SECONDS,
  type Trips,
  writeTrips,
} from '../../decide/loop-guard'
import { withFlowParameter } from '../../decide/return-to'
import { publish } from '../events'
import { atHead, makePrivate } from '../http/caching'
import { dropCookie, setCookie } from '../http/cookies'
import { redirect } from '../http/redirect'
import { pageOf, tripsOf, type Visit } from '../visit'

/** The Identify address of this browser for one page; sets the binding cookie when there is none. */
export function identifyAddress(visit: Visit, page: string): string {
  const { site, res, browser } = visit
  if (browser.binding === undefined) {
    browser.binding = randomBytes(16).toString('base64url')
    setCookie(res, site.config, site.config.cookies.binding, browser.binding)
  }
  const parameter = makeBinding(site.macKeys, browser.binding, site.now())
  return site.client.identifyUrl(withFlowParameter(page, parameter))
}

/** Sends the browser through Identify to a page, without our parameter, and counts the trip. */
export function sendToIdentify(visit: Visit, page: string, because: string): void {
  const { site, req, res } = visit
  setTrips(visit, countTrip(tripsOf(visit), pageKey(page), site.now()))
  site.front.noteTrip()
  publish('identify', { operation: 'identify', outcome: 'redirected', durationMs: 0, reason: because })
  redirect(res, identifyAddress(visit, page), req.method === 'GET' ? 302 : 303)
}

/** Notes the browser's trips, where they have changed. */
export function setTrips(visit: Visit, trips: Trips): void {
  const { site, res } = visit
  const text = writeTrips(trips)
  const { loop } = site.config.cookies
  if (text === writeTrips(tripsOf(visit))) return
  if (text === '') dropCookie(res, site.config, loop)
  else setCookie(res, site.config, loop, text, TRIPS_SECONDS)
}

/** A trip is forgotten when its page is served with the session it brought: asked when the answer's head is written. */
export function forgetTripWhenServed(visit: Visit, isServed: () => boolean): void {
  const page = tripsOf(visit).length === 0 ? undefined : pageOf(visit)
  if (page === undefined || !hasTrip(tripsOf(visit), pageKey(page))) return
  setTripsAtHead(visit, (trips) => (isServed() ? forgetTrip(trips, pageKey(page)) : trips))
}

/** The guard has the page shown, and with that the chain of redirects has ended, unless the page itself leads on. */
export function noteShownByGuard(visit: Visit): void {
  const page = pageOf(visit)
  if (page === undefined) return
  const { site, res } = visit
  const isShown = () => !res.hasHeader('location')
  setTripsAtHead(visit, (trips) => (isShown() ? noteShown(trips, pageKey(page), site.now()) : trips))
}

function setTripsAtHead(visit: Visit, change: (trips: Trips) => Trips): void {
  atHead(visit.res, () => {
    const trips = tripsOf(visit)
    const changed = change(trips)
    if (writeTrips(changed) === writeTrips(trips)) return
    setTrips(visit, changed)
    makePrivate(visit.res)
  })
}
