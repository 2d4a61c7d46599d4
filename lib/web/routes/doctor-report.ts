/** The report for `doctor`: how requests arrive, and whether Redis and the SSO system answer. Only a signed request gets the report. */
import type { Request, Response } from 'express'
import { DOCTOR_HEADER, isDoctorSignature, type SiteReport } from '../../decide/doctor-protocol'
import { sendJson } from '../pages/answers'
import type { Site } from '../site'

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

/** Is the request signed with the `sessionSecret` of the site? */
export function isDoctorRequest(site: Site, req: Request): boolean {
  const signature = req.headers[DOCTOR_HEADER]
  return typeof signature === 'string' && isDoctorSignature(site.macKeys, signature, site.now())
}

/** Sends the report. */
export async function sendDoctorReport(site: Site, req: Request, res: Response): Promise<void> {
  const { clientId, siteUrl } = site.config
  const forwarded = req.headers['x-forwarded-for']
  const report: SiteReport = {
    clientId,
    siteUrl,
    sso: site.identifyHealth.isAvailable ? 'ok' : 'unavailable',
    store: (await site.records.probe()) === 'done' ? 'ok' : 'unavailable',
    forwardedFor: Array.isArray(forwarded) ? forwarded.join(', ') : (forwarded ?? ''),
    proxyHeaders: PROXY_HEADERS.filter((name) => req.headers[name] !== undefined),
    trustedHops: req.ips?.length ?? 0,
    isEncrypted: 'encrypted' in req.socket && req.socket.encrypted === true,
  }
  sendJson(res, 200, report)
}
