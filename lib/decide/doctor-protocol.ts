/** The protocol between `doctor` and a running site: the doctor's signature, and the site's report. Pure. */
import { z } from 'zod'
import type { EpochSeconds } from '../protocol/claims'
import { MARKER_MS, type MacKeys, makeStamp, readStamp } from './signatures'

/** Request header with the doctor's signature, sent to the landing page. */
export const DOCTOR_HEADER = 'x-sso2-doctor'

/** Makes the doctor's signature with the site's `sessionSecret`. */
export function makeDoctorSignature(keys: MacKeys, now: EpochSeconds): string {
  return makeStamp(keys, 'doctor', '', now * 1000)
}

/** Does the request come from a doctor that knows the site's `sessionSecret`? */
export function isDoctorSignature(keys: MacKeys, value: string | undefined, now: EpochSeconds): boolean {
  return readStamp(keys, 'doctor', '', value, now * 1000, MARKER_MS) !== undefined
}

const reach = z.enum(['ok', 'unavailable'])

/** Report of a site about itself and about the request as received. The report holds no secret. */
export const siteReport = z.object({
  clientId: z.string(),
  siteUrl: z.string(),
  sso: reach,
  store: reach,
  /** `X-Forwarded-For` as received, and the names of other headers that proxies add. */
  forwardedFor: z.string(),
  proxyHeaders: z.array(z.string()),
  /** Number of proxies that the application trusts for the request, by its `trust proxy`. */
  trustedHops: z.int(),
  /** Number of proxies that the application trusts whatever their addresses, at most 16. A list of networks trusts none of them. */
  hopsTrustedUnseen: z.int(),
  /** Did the request reach the application itself over TLS? */
  isEncrypted: z.boolean(),
  /** Does the connection have no address, as that of a Unix socket? Then a proxy is in front. */
  isLocalSocket: z.boolean().default(false),
  /** Does the application know the address of the visitor (`req.ip`)? */
  hasVisitorAddress: z.boolean().default(true),
  /** Options of the site that no environment variable sets. */
  options: z
    .object({
      login: z.union([z.string(), z.literal(false)]),
      identify: z.enum(['always', 'on-demand']),
      binding: z.string(),
    })
    .optional(),
})

export type SiteReport = z.infer<typeof siteReport>
