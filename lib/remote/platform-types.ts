/** Types and schemas of the resources of the REST API. Interface: "Resources and their fields". Unknown fields pass through. */
import { z } from 'zod'

const text = z.string()
const texts = { name: text, key: text, image_url: text, image_link: text, rgb: text, header: text, description: text }
export const marketplaceGroup = z.looseObject({ ...texts, markets: z.array(z.looseObject({ name: text, key: text })) })
export const administrator = z.looseObject({
  group: text,
  created: text,
  account_id: text,
  contact_email: text,
  name: text,
})
/** Interface: "GET {base_url}/external/api/v1/admin", query. */
export const administratorFilter = z.strictObject({
  group: text
    .min(1)
    .refine((name) => !/\p{Surrogate}/u.test(name), 'must be well-formed Unicode')
    .optional(),
})
/** Interface: "Gift receiver eligibility". */
export const eligibility = z.looseObject({ item: z.looseObject({ receiver_eligible: z.boolean() }) })
const addressField = z.enum(['first_name', 'last_name', 'street', 'street_number', 'zip_code', 'city', 'country_code'])
export const giftReceiver = z.strictObject({
  campaign_code: text.min(1),
  delivery_address: z.partialRecord(addressField, text.optional()),
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

/** An administrator with all groups. The other fields are those of the first entry. Interface: "Administrator entry". */
export interface AdministratorAccount extends Pick<Administrator, 'account_id' | 'name' | 'contact_email' | 'created'> {
  /** Names of the groups, in the platform's order. */
  readonly groups: string[]
}
