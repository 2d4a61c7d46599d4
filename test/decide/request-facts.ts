import type { DegradedReason, RequestDecision, RequestFacts } from '../../lib/decide/request-decision'
import { NOW } from './samples'

export const timeLimits = { recheckSeconds: 360, graceSeconds: 900, absoluteSeconds: 7_776_000, lockSeconds: 3 }

/** A page load of a browser without a session, while all is well. */
export const usual: RequestFacts = {
  now: NOW,
  record: undefined,
  isStoreAvailable: true,
  isSsoAvailable: true,
  isIdentifyBroken: false,
  mayIdentify: true,
  blocked: undefined,
  logoutCookie: 'no_cookie',
  isLoginPage: false,
  fresh: undefined,
  hasWaited: false,
}

export const show = (record: RequestFacts['record'], degraded?: DegradedReason): RequestDecision => ({
  action: 'show',
  record,
  degraded,
})

/** What is decided of a record. */
export type Outcome = (record: NonNullable<RequestFacts['record']>) => RequestDecision
export const isShown: Outcome = (record) => show(record)
export const isShownUnchecked: Outcome = (record) => show(record, 'sso_unavailable')
export const isHidden: Outcome = () => show(undefined, 'sso_unavailable')
export const isWithoutStore: Outcome = () => show(undefined, 'store_unavailable')
export const isWaitedFor: Outcome = () => ({ action: 'wait_for_check' })
export const isEnded: Outcome = () => ({ action: 'end_session', reason: 'absolute_limit' })
