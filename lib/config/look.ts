/** How the built-in pages look and speak: brand, links, language, texts; and the policy of a site's own views. */
import { z } from 'zod'
import { isColor } from '../decide/contrast'
import { expected, webAddress } from './checks'
import { isTextCode, LANGUAGES, type Language, TEXTS } from './texts'
import type { AllTexts, TextCode } from './texts/en'

/** The site's look on the built-in pages. Addresses are paths of the site's origin, or `https:`. */
export interface Brand {
  /** Stands above the page and in its title; with a logo, the logo's text. */
  readonly name?: string
  readonly logoUrl?: string
  /** `#rrggbb` or `#rgb`: button, links and edges. Whatever it is, text keeps a contrast of at least 4.5. */
  readonly color?: string
  /** A style sheet after ours; its origin may also give it fonts and images. */
  readonly stylesheetUrl?: string
}

/** Where the login page leads besides: paths of the site's origin, or `https:` addresses. */
export interface Links {
  readonly forgotPassword?: string
  readonly createAccount?: string
  readonly help?: string
}

/** Content-Security-Policy of the site's own views: a text, made of a fresh nonce, or none. */
export type ViewPolicy = string | ((nonce: string) => string) | false

/** Options of this part. */
export interface LookOptions {
  /** Default: no logo, a blue, no style sheet but ours. */
  readonly brand?: Brand
  /** Default: none. */
  readonly links?: Links
  /** Of texts and `lang` on the built-in pages; default `'en'`. */
  readonly language?: Language
  /** Replace single texts of the built-in pages, by code. */
  readonly texts?: Partial<Readonly<Record<TextCode, string>>>
  /** Default `false`: none of ours on pages that `views` make. The built-in pages have their own whatever this says. */
  readonly contentSecurityPolicy?: ViewPolicy
}

/** A header's text: printable ASCII in one line. */
export const isPolicy = (value: unknown): value is string => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)

const policy = z
  .custom<ViewPolicy>(
    (value) => value === false || typeof value === 'function' || isPolicy(value),
    'must be a policy in one line, a function that makes one of a nonce, or false',
  )
  .default(false)

const texts = z
  .record(z.string(), z.string({ error: 'must be a text' }), { error: expected('an object of texts by code') })
  .superRefine((given, context) => {
    for (const code of Object.keys(given)) {
      if (!isTextCode(code))
        context.addIssue({ code: 'custom', path: [code], message: 'is no text of the built-in pages' })
    }
  })
  .default({})

/** The options of this part, for the schema. */
export const look = (isProduction: boolean) => {
  const place = webAddress(isProduction).optional()
  return {
    brand: z
      .strictObject(
        {
          name: z
            .string({ error: 'must be a text' })
            .trim()
            .regex(/^[^\p{Cc}]{1,100}$/u, 'must have 1 to 100 characters')
            .optional(),
          logoUrl: place,
          color: z
            .string({ error: 'must be a colour such as #17477a' })
            .refine(isColor, 'must be a colour such as #17477a')
            .optional(),
          stylesheetUrl: place,
        },
        { error: expected('{ name, logoUrl, color, stylesheetUrl }') },
      )
      .default({}),
    links: z
      .strictObject(
        { forgotPassword: place, createAccount: place, help: place },
        { error: expected('{ forgotPassword, createAccount, help }') },
      )
      .default({}),
    language: z.enum(LANGUAGES, { error: `must be one of ${LANGUAGES.join(', ')}` }).default('en'),
    texts,
    contentSecurityPolicy: policy,
  }
}

/** Every text in a language, the site's own in place of ours. */
export function textsIn(language: Language, own: Readonly<Record<string, string>>): AllTexts {
  return Object.freeze({ ...TEXTS[language], ...own })
}
