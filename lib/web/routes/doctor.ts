/** The report for `doctor` about the site, and about how its request arrived. Only a doctor that knows the `sessionSecret` of the site gets it. */
import type { Request, Response } from 'express'
import type { SiteReport } from '../../decide/doctor-protocol'
import { health } from '../health'
import { deviceOf, UNKNOWN_ADDRESS } from '../http/request-facts'
import { sendJson } from '../pages/answers'
import type { Site } from '../site'

/** Headers that proxies add, beside `X-Forwarded-For`. */
const PROXY_HEADER = /^(?:via|forwarded|x-forwarded-(?:proto|host|port)|x-real-ip|cf-connecting-ip|true-client-ip)$/

/** An address that is in no network of a site. */
const FOREIGN_ADDRESS = '203.0.113.9'
const MAX_HOPS = 16

/** Returns how many proxies the application trusts whatever their addresses. With `trust proxy` true or too large, visitors are trusted too. */
function hopsTrustedUnseen({ app }: Request): number {
  const isTrusted: (address: string, hop: number) => boolean = app.get('trust proxy fn')
  let hops = 0
  while (hops < MAX_HOPS && isTrusted(FOREIGN_ADDRESS, hops)) hops += 1
  return hops
}

/** Sends the report. */
export async function sendDoctorReport(site: Site, req: Request, res: Response): Promise<void> {
  const { clientId, siteUrl, routes, identify, cookies } = site.config
  const { sso, store } = await health(site)
  const report: SiteReport = {
    clientId,
    siteUrl,
    sso,
    store,
    forwardedFor: req.get('x-forwarded-for') ?? '',
    proxyHeaders: Object.keys(req.headers).filter((name) => PROXY_HEADER.test(name)),
    trustedHops: req.ips.length,
    hopsTrustedUnseen: hopsTrustedUnseen(req),
    isEncrypted: 'encrypted' in req.socket && req.socket.encrypted === true,
    isLocalSocket: req.socket.remoteAddress === undefined,
    hasVisitorAddress: deviceOf(req).ipa !== UNKNOWN_ADDRESS,
    options: { login: routes.login, identify, binding: cookies.binding },
  }
  sendJson(res, 200, report)
}
