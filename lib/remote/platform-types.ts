/** Types and schemas of the resources of the REST API. Interface: "Resources and their fields". Unknown fields pass through. */
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
/** Interface: "validate_gift_receiver", request. All address fields are optional, because the interface does not say which fields are required. */
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

/** A market of a marketplace group. Interface: "Market". Unknown fields pass through. */
export interface Market {
  /** Name of the market. */
  name: string
  /** Key of the market. */
  key: string
  [field: string]: unknown
}

/** A marketplace group with its markets. Interface: "Marketplace group". Unknown fields pass through. */
export interface MarketplaceGroup {
  /** Name of the group. */
  name: string
  /** Key of the group. */
  key: string
  /** Address of the group's image. */
  image_url: string
  /** Address that the image links to. */
  image_link: string
  /** Colour, in the style of `#rrggbb`. */
  rgb: string
  /** Header text. */
  header: string
  /** Description text. */
  description: string
  /** The group's markets, in the platform's order. */
  markets: Market[]
  [field: string]: unknown
}

/** An entry of the administrators: an account in a group. Interface: "Administrator entry". Unknown fields pass through. */
export interface Administrator {
  /** Name of the administrator group. */
  group: string
  /** Time of creation: `YYYY-MM-DDThh:mm:ss`, in the platform's own time, without a zone. */
  created: string
  /** Account ID: the same in all entries of an administrator. */
  account_id: string
  /** E-mail address. */
  contact_email: string
  /** The administrator's name. */
  name: string
  [field: string]: unknown
}

/**
 * Argument of `validateGiftReceiver`. Interface: "validate_gift_receiver" and "Address object". All address fields are
 * optional, because the interface does not say which fields are required. Other fields are refused.
 */
export interface GiftReceiver {
  /** Code of the gift campaign, not empty. */
  campaign_code: string
  /** Name and address of the person who gets the gift. */
  delivery_address: {
    first_name?: string | undefined
    last_name?: string | undefined
    street?: string | undefined
    street_number?: string | undefined
    zip_code?: string | undefined
    city?: string | undefined
    country_code?: string | undefined
  }
}

/** An administrator with all groups. Interface: "Administrator entry". */
export interface AdministratorAccount {
  /** Account ID. */
  readonly account_id: string
  /** The administrator's name. */
  readonly name: string
  /** E-mail address. */
  readonly contact_email: string
  /** `created` of the first entry: `YYYY-MM-DDThh:mm:ss`, in the platform's own time, without a zone. */
  readonly created: string
  /** Names of the groups, in the platform's order. */
  readonly groups: string[]
}

/** Merges the entries of each account. The fields of the first entry count. */
export function byAccount(entries: readonly Administrator[]): AdministratorAccount[] {
  const accounts = new Map<string, AdministratorAccount>()
  for (const { account_id, name, contact_email, created, group } of entries) {
    const known = accounts.get(account_id)
    if (known) known.groups.push(group)
    else accounts.set(account_id, { account_id, name, contact_email, created, groups: [group] })
  }
  return [...accounts.values()]
}
