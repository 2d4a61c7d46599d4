/** Resources of the REST API as types, checked at the border. Interface: "Resources and their fields". Unknown fields pass through. */
import { z } from 'zod'

/** Interface: "Market". */
const market = z.looseObject({ name: z.string(), key: z.string() })
/** Interface: "Marketplace group". */
export const marketplaceGroup = z.looseObject({
  name: z.string(),
  key: z.string(),
  image_url: z.string(),
  image_link: z.string(),
  rgb: z.string(),
  header: z.string(),
  description: z.string(),
  markets: z.array(market),
})
/** Interface: "Administrator entry". `created` has no zone: `YYYY-MM-DDThh:mm:ss`. */
export const administrator = z.looseObject({
  group: z.string(),
  created: z.string(),
  account_id: z.string(),
  contact_email: z.string(),
  name: z.string(),
})
/** Interface: "GET {base_url}/external/api/v1/admin", query. */
export const administratorFilter = z.strictObject({
  group: z
    .string()
    .min(1)
    .refine((text) => !/\p{Surrogate}/u.test(text), 'must be well-formed Unicode')
    .optional(),
})
/** Interface: "Gift receiver eligibility". */
export const eligibility = z.looseObject({ item: z.looseObject({ receiver_eligible: z.boolean() }) })
/** Interface: "validate_gift_receiver", request. Which address fields are required is not shown: each may be left out. */
export const giftReceiver = z.strictObject({
  campaign_code: z.string().min(1),
  delivery_address: z.strictObject({
    first_name: z.string().optional(),
    last_name: z.string().optional(),
    street: z.string().optional(),
    street_number: z.string().optional(),
    zip_code: z.string().optional(),
    city: z.string().optional(),
    country_code: z.string().optional(),
  }),
})

/** One market of a marketplace group. */
export type Market = z.infer<typeof market>
/** One marketplace group. */
export type MarketplaceGroup = z.infer<typeof marketplaceGroup>
/** One entry of the administrators: an account in a group. */
export type Administrator = z.infer<typeof administrator>
/** Argument of `validateGiftReceiver`. */
export type GiftReceiver = z.infer<typeof giftReceiver>

/** One administrator with all groups. */
export interface AdministratorAccount {
  readonly account_id: string
  readonly name: string
  readonly contact_email: string
  readonly created: string
  readonly groups: string[]
}

/** Entries an account and group, made into entries an account; the first entry's fields count. */
export function byAccount(entries: readonly Administrator[]): AdministratorAccount[] {
  const accounts = new Map<string, AdministratorAccount>()
  for (const { account_id, name, contact_email, created, group } of entries) {
    const known = accounts.get(account_id)
    if (known) known.groups.push(group)
    else accounts.set(account_id, { account_id, name, contact_email, created, groups: [group] })
  }
  return [...accounts.values()]
}
