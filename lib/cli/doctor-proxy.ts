/** Compares the site's `trust proxy` with the proxies in front. The functions are pure. */
import type { SiteReport } from '../decide/doctor-protocol'
import { about, type Finding } from './doctor-finding'

/** An unused address that the doctor sends in `X-Forwarded-For`. Proxies append their own addresses or replace the header. */
export const FORGED_ADDRESS = '203.0.113.7'

const { ok, note, wrong } = about('proxy')

const trust = (hops: number) => `app.set('trust proxy', ${hops})   before app.use(sso)`
const count = (hops: number) => (hops === 1 ? 'one proxy' : `${hops} proxies`)

/**
 * Judges the proxies and the `trust proxy` setting.
 * @param report how a request with {@link FORGED_ADDRESS} arrived
 */
export function proxyFinding(report: SiteReport, isSecure: boolean): Finding {
  const { trustedHops, isEncrypted } = report
  const added = addedBy(report.forwardedFor)
  if (added.length > 0) return report.hasVisitorAddress ? judgeHops(added.length, report) : addressUnknown(added.length)
  if (isBehindProxy(report) || (isSecure && !isEncrypted))
    return wrong(
      'the proxy adds no X-Forwarded-For: all users share its address, and so one limit of login attempts',
      'nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    )
  return trustedHops === 0
    ? ok('no proxy, and none is trusted')
    : note(
        'no proxy, but the application trusts X-Forwarded-For: an attacker can choose an address',
        "remove app.set('trust proxy', …), if there is no proxy",
      )
}

/** A Unix socket has no address that `trust proxy` could name, so only a number of proxies helps. */
const addressUnknown = (there: number): Finding =>
  wrong(
    `${count(there)}, but the application knows no address of a visitor (req.ip is undefined or no address, as behind a Unix socket): all users share one address, and the limits by address do not work`,
    trust(there),
  )

/** Did the request of the doctor come through a proxy? */
export const isBehindProxy = ({ forwardedFor, proxyHeaders, isLocalSocket }: SiteReport): boolean =>
  isLocalSocket || proxyHeaders.length > 0 || addedBy(forwardedFor).length > 0

function judgeHops(there: number, report: SiteReport): Finding {
  const { trustedHops: trusted, hopsTrustedUnseen, forwardedFor } = report
  if (trusted < there)
    return wrong(
      `${count(there)}, and the application trusts ${trusted}: all users share one address, and so one limit of login attempts`,
      trust(there),
    )
  // `trustedHops` can be larger without harm: a trusted network can contain the address of the doctor too
  return hopsTrustedUnseen > there && forwardedFor.includes(FORGED_ADDRESS) // a proxy may replace what visitors send
    ? note(`${count(there)}, and the application trusts more: an attacker can choose an address`, trust(there))
    : ok(`${count(there)}, trusted`)
}

/** Returns the addresses that proxies have added, the visitor's address first. */
function addedBy(forwardedFor: string): string[] {
  const list = forwardedFor
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
  return list.slice(list.lastIndexOf(FORGED_ADDRESS) + 1)
}
