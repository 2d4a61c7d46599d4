/** How `doctor` shows a running site that it may ask, and what the site tells it. Pure. */
import { z } from 'zod'
import type { EpochSeconds } from '../protocol/claims'
import { isSignature, MARKER_SECONDS, type MacKeys, makeSignature } from './binding'

/** Request header of an examination, sent to the landing page. */
export const DOCTOR_HEADER = 'x-sso2-doctor'

/** A mark that only somebody with the site's `sessionSecret` can make. */
export function makeDoctorSignature(keys: MacKeys, now: EpochSeconds): string {
  return makeSignature(keys, 'doctor', '', now)
}

/** May this request be told how the site is set up? */
export function isDoctorSignature(keys: MacKeys, value: string | undefined, now: EpochSeconds): boolean {
  return isSignature(keys, 'doctor', '', value, now, MARKER_SECONDS)
}

const reach = z.enum(['ok', 'unavailable'])

/** What a site says of itself, and of the request as it arrived. Nothing of it is secret. */
export const siteReport = z.object({
  clientId: z.string(),
  siteUrl: z.string(),
  sso: reach,
  store: reach,
  /** `X-Forwarded-For` as it arrived, and the names of other headers that proxies add. */
  forwardedFor: z.string(),
  proxyHeaders: z.array(z.string()),
  /** How many proxies the application trusts on the way of this request, by its `trust proxy`. */
  trustedHops: z.int(),
  /** Did the request reach the application itself by TLS? */
  isEncrypted: z.boolean(),
})

/** @see siteReport */
export type SiteReport = z.infer<typeof siteReport>
