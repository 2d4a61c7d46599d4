/** One request on its way: what was read, and what may be shown. */
import type { Request, Response } from 'express'
import { isBindingValue, isMark, MARKER_SECONDS } from '../decide/binding'
import { blockedBy, pageKey, readTrips, type Trips } from '../decide/loop-guard'
import { parseRecord, type SsoRecord } from '../decide/record'
import { flowParameterOf } from '../decide/return-to'
import type { DegradedReason } from '../decide/visit'
import { readCookie } from './cookies'
import { addressOf, pageOf } from './facts'
import type { SessionState } from './session'
import type { Site } from './site'

/** Mutable on purpose: one request's own state, never shared. */
export interface Visit {
  readonly site: Site
  readonly req: Request
  readonly res: Response
  /** Key of the live session, if there is one. */
  key: string | undefined
  /** The record as stored: what compare-and-set compares with. */
  raw: string | null
  /** The record as read. */
  record: SsoRecord | undefined
  isStoreAvailable: boolean
  /** Did the browser come with a living session, even if it has ended since? */
  readonly hadRecord: boolean
  /** Key of the session that the browser names, where the store could not be asked for it. */
  readonly unreadKey: string | undefined
  /** What the page may show. */
  served: SsoRecord | undefined
  degraded: DegradedReason | undefined
}

/** Reads the session and its record; never throws for a store that does not answer. */
export async function openVisit(site: Site, req: Request, res: Response): Promise<Visit> {
  const state = await site.sessions.stateOf(req)
  const visit: Visit = {
    site,
    req,
    res,
    key: undefined,
    raw: null,
    record: undefined,
    isStoreAvailable: true,
    unreadKey: state.unreadKey,
    hadRecord: state.raw?.startsWith('{') === true,
    served: undefined,
    degraded: undefined,
  }
  takeState(visit, state)
  return visit
}

function takeState(visit: Visit, { key, raw, isAvailable }: SessionState): void {
  visit.key = key
  visit.isStoreAvailable = isAvailable
  setRecord(visit, raw)
}

/** Notes what the store now holds for this session. */
export function setRecord(visit: Visit, raw: string | null): void {
  visit.raw = raw
  visit.record = parseRecord(raw)
}

/** This browser's binding cookie, if it has one of ours. */
export function bindingOf({ site, req }: Visit): string | undefined {
  const value = readCookie(req, site.config.cookies.binding)
  return isBindingValue(value) ? value : undefined
}

/** This browser's trips through Identify. */
export function tripsOf({ site, req }: Visit): Trips {
  return readTrips(readCookie(req, site.config.cookies.loop), site.now())
}

/** Must this page be served now, without another trip? The marker counts only where our cookie did not come back. */
export function blockOf(visit: Visit): DegradedReason | undefined {
  const { site, req } = visit
  const parameter = flowParameterOf(addressOf(req, site.config) ?? '')
  const isMarked = isMark(site.config.macKeys(), 'marker', '', parameter, site.now(), MARKER_SECONDS)
  if (isMarked && bindingOf(visit) === undefined) return 'cookies_blocked'
  const page = pageOf(req, site.config)
  return page === undefined ? undefined : blockedBy(tripsOf(visit), pageKey(page))
}
