/**
 * The known state of the systems around the site: `sso.health()` (table: docs/internals/decision-tables.md, "Health"), and the report for `doctor`,
 * which also says how requests arrive. Only a request that is signed with the `sessionSecret` of the site gets the report.
 */
import type { Request, Response } from 'express'
import { DOCTOR_HEADER, isDoctorSignature, type SiteReport } from '../decide/doctor-protocol'
import { NO_ANSWER } from '../storage/redis-failure'
import { unlessUnavailable } from '../storage/site-store'
import { deviceOf, UNKNOWN_ADDRESS } from './http/request-facts'
import { sendJson } from './pages/answers'
import type { Site } from './site'

/**
 * The known state of the systems around the site. The state comes from calls for visitors, so traffic is needed. Only Redis is
 * called for the report.
 */
export interface Health {
  /** True if all of `sso`, `store` and `login` are `'ok'`, and the clock is within `clockToleranceSeconds`, as far as known. */
  readonly ok: boolean
  /**
   * `'unavailable'` while the circuit breaker of the SSO system or of Identify is open. New visitors are then not redirected to
   * Identify.
   */
  readonly sso: 'ok' | 'unavailable'
  /** Redis, or memory. One key is read and written for the report, so in a Cluster one master is asked. `'unavailable'` until both succeed. */
  readonly store: 'ok' | 'unavailable'
  /**
   * Why the store is unavailable, in a form that stays the same: the code of a refusal or of Node.js (`'OOM'`, `'NOAUTH'`, `'ECONNREFUSED'`), or
   * `'no answer'`.
   */
  readonly storeReason?: string
  /**
   * `'unavailable'` while users cannot log in: after three failures in a row of the exchange of tickets or of the user path, until the next
   * success, at most a minute after the last failure. A failure for a single account does not count.
   */
  readonly login: 'ok' | 'unavailable'
  /** This machine's clock minus the SSO system's clock. `undefined` before the first response of the SSO system. */
  readonly clockOffsetSeconds: number | undefined
}

/** Probes the session store, and reports the known state of the other systems. */
export async function health({ client, config, identifyHealth, exchangeHealth, records }: Site): Promise<Health> {
  const isStored = await unlessUnavailable(() => records.kv.probe().then(() => true), false)
  const { clockOffsetSeconds } = client
  const states = {
    sso: stateOf(identifyHealth.isAvailable),
    store: stateOf(isStored),
    login: stateOf(exchangeHealth.isAvailable),
  }
  const isClockRight = Math.abs(clockOffsetSeconds ?? 0) <= config.clockToleranceSeconds
  const ok = isClockRight && Object.values(states).every((state) => state === 'ok')
  return { ok, ...states, ...(isStored ? {} : { storeReason: records.kv.failure ?? NO_ANSWER }), clockOffsetSeconds }
}

const stateOf = (isWell: boolean): 'ok' | 'unavailable' => (isWell ? 'ok' : 'unavailable')

/** Headers that proxies add, beside `X-Forwarded-For`. */
const PROXY_HEADERS = [
  'via',
  'forwarded',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
]

/** An address that is in no network of a site. */
const FOREIGN_ADDRESS = '203.0.113.9'
const MAX_HOPS = 16

/** Returns how many proxies the application trusts whatever their addresses. With `trust proxy` true or too large, visitors are trusted too. */
function hopsTrustedUnseen({ app }: Request): number {
  const isTrusted: (address: string, hop: number) => boolean = app.get('trust proxy fn')
  const hops = Array.from({ length: MAX_HOPS }, (_none, hop) => Boolean(isTrusted(FOREIGN_ADDRESS, hop)))
  return [...hops, false].indexOf(false)
}

/** Is the request signed with the `sessionSecret` of the site? */
export function isDoctorRequest(site: Site, req: Request): boolean {
  return isDoctorSignature(site.config.macKeys(), req.get(DOCTOR_HEADER), site.now())
}

/** Sends the report. */
export async function sendDoctorReport(site: Site, req: Request, res: Response): Promise<void> {
  const { clientId, siteUrl, routes, identify, cookies } = site.config
  const report: SiteReport = {
    clientId,
    siteUrl,
    sso: site.identifyHealth.isAvailable ? 'ok' : 'unavailable',
    store: await unlessUnavailable(() => site.records.kv.probe().then(() => 'ok' as const), 'unavailable' as const),
    forwardedFor: req.get('x-forwarded-for') ?? '',
    proxyHeaders: PROXY_HEADERS.filter((name) => req.headers[name] !== undefined),
    trustedHops: req.ips.length,
    hopsTrustedUnseen: hopsTrustedUnseen(req),
    isEncrypted: 'encrypted' in req.socket && req.socket.encrypted === true,
    isLocalSocket: req.socket.remoteAddress === undefined,
    hasVisitorAddress: deviceOf(req).ipa !== UNKNOWN_ADDRESS,
    options: { login: routes.login, identify, binding: cookies.binding },
  }
  sendJson(res, 200, report)
}
