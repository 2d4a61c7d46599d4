/** How the built-in pages look and speak: brand, links, language, texts; and the policy of a site's own views. */
import { z } from 'zod'
import { isColor } from '../decide/contrast'
import { webAddress } from './checks'
import { isTextCode, LANGUAGES, type Language, TEXTS } from './texts'
import type { AllTexts, TextCode } from './texts/en'
import { nearest } from './unknown-options'

/** The site's look on the built-in pages. Addresses are paths of the site's origin, or `https:`. */
export interface BrandOptions {
  /** Stands above the page and in its title; with a logo, the logo's text. */
  readonly name?: string | undefined
  /** The logo in place of the name. Must be a path that begins with /, or an address that begins with https:. */
  readonly logoUrl?: string | undefined
  /**
   * `#rrggbb` or `#rgb`: button, links and edges. Whatever it is, text keeps a contrast of at least 4.5. Must be a
   * colour such as #17477a. Default: a blue.
   */
  readonly color?: string | undefined
  /**
   * A style sheet after ours; its origin may also give it fonts and images. Must be a path that begins with /, or an
   * address that begins with https:.
   */
  readonly stylesheetUrl?: string | undefined
}

/** Where the login page leads besides: paths of the site's origin, or `https:` addresses. */
export interface LoginPageLinks {
  /**
   * Where a forgotten password is set anew. Must be a path that begins with /, or an address that begins with https:.
   */
  readonly forgotPassword?: string | undefined
  /** Where an account is made. Must be a path that begins with /, or an address that begins with https:. */
  readonly createAccount?: string | undefined
  /** Where help is found. Must be a path that begins with /, or an address that begins with https:. */
  readonly help?: string | undefined
}

/** Content-Security-Policy of the site's own views: a text, made of a fresh nonce, or none. */
export type ViewPolicy = string | ((nonce: string) => string) | false

/** Options of this part. */
export interface LookOptions {
  /** The site's look on the built-in pages. */
  readonly brand?: BrandOptions | undefined
  /** Where the login page leads besides; a link that is left out is not there. */
  readonly links?: LoginPageLinks | undefined
  /** Language of the built-in pages: their texts and `lang`. Must be one of en, sv, nb, da, fi, de. Default: `'en'`. */
  readonly language?: Language | undefined
  /**
   * Single texts of the built-in pages by code, in place of those of `language` (docs/texts.md). Must be an object of
   * texts by code.
   */
  readonly texts?: { readonly [Code in TextCode]?: string | undefined } | undefined
  /**
   * Content-Security-Policy of pages that `views` make, or `false` for none of ours. The built-in pages have their own
   * whatever this says. Must be a policy in one line, a function that makes one of a nonce, or false. Default: `false`.
   */
  readonly contentSecurityPolicy?: ViewPolicy | undefined
}

const COLOUR = 'must be a colour such as #17477a'

/** A header's text: printable ASCII in one line. */
export const isPolicy = (value: unknown): value is string => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)

const policy = z
  .custom<ViewPolicy>(
    (value) => value === false || typeof value === 'function' || isPolicy(value),
    'must be a policy in one line, a function that makes one of a nonce, or false',
  )
  .default(false)
  .describe(
    'Content-Security-Policy of pages that `views` make, or `false` for none of ours. The built-in pages have their own whatever this says.',
  )

const texts = z
  .record(z.string(), z.string({ error: 'must be a text' }).optional(), { error: 'must be an object of texts by code' })
  .superRefine((given, context) => {
    for (const [code, text] of Object.entries(given)) {
      if (text === undefined || isTextCode(code)) continue
      const message = `is no text of the built-in pages: the nearest code is ${nearest(code, Object.keys(TEXTS.en))}`
      context.addIssue({ code: 'custom', path: [code], message })
    }
  })
  .default({})
  .describe('Single texts of the built-in pages by code, in place of those of `language` (docs/texts.md).')

/** The options of this part, for the schema. */
export const look = (isProduction: boolean) => {
  const place = (description: string) => webAddress(isProduction).optional().describe(description)
  return {
    brand: z
      .object(
        {
          name: z
            .string({ error: 'must be a text' })
            .trim()
            .regex(/^[^\p{Cc}]{1,100}$/u, 'must have 1 to 100 characters')
            .optional()
            .describe("Stands above the page and in its title; with a logo, the logo's text."),
          logoUrl: place('The logo in place of the name.'),
          color: z.string({ error: COLOUR }).refine(isColor, COLOUR).optional().meta({
            description:
              '`#rrggbb` or `#rgb`: button, links and edges. Whatever it is, text keeps a contrast of at least 4.5.',
            otherwise: 'a blue',
          }),
          stylesheetUrl: place('A style sheet after ours; its origin may also give it fonts and images.'),
        },
        { error: 'must be { name, logoUrl, color, stylesheetUrl }' },
      )
      .default({})
      .describe("The site's look on the built-in pages."),
    links: z
      .object(
        {
          forgotPassword: place('Where a forgotten password is set anew.'),
          createAccount: place('Where an account is made.'),
          help: place('Where help is found.'),
        },
        { error: 'must be { forgotPassword, createAccount, help }' },
      )
      .default({})
      .describe('Where the login page leads besides; a link that is left out is not there.'),
    language: z
      .enum(LANGUAGES, { error: `must be one of ${LANGUAGES.join(', ')}` })
      .default('en')
      .describe('Language of the built-in pages: their texts and `lang`.'),
    texts,
    contentSecurityPolicy: policy,
  }
}

/** Every text in a language, the site's own in place of ours. */
export function textsIn(language: Language, own: Readonly<Record<string, string | undefined>>): AllTexts {
  const given = Object.entries(own).filter(([, text]) => text !== undefined)
  return Object.freeze({ ...TEXTS[language], ...Object.fromEntries(given) })
}
