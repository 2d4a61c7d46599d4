/** Options for the look and language of the built-in pages, and the Content-Security-Policy of custom views. */
import { z } from 'zod'
import { isTextCode, LANGUAGES, type Language, TEXTS } from './texts'
import { EMAIL_TEXTS } from './texts/email'
import type { AllTexts, TextCode } from './texts/en'
import { nearest } from './unknown-options'
import { webAddress } from './validators'

/** Name, logo and colour on the built-in pages. Addresses are paths of the site's origin, or `https:`. */
export interface BrandOptions {
  /** Heading of each page and end of its title. With a logo, the text of the logo. */
  readonly name?: string | undefined
  /** The logo in place of the name. Must be a path that begins with /, or an address that begins with https:. */
  readonly logoUrl?: string | undefined
  /**
   * The logo on dark pages. The address of `logoUrl` if that logo can be read on dark pages too. Without it, dark pages
   * show `name`. Must be a path that begins with /, or an address that begins with https:.
   */
  readonly logoDarkUrl?: string | undefined
  /**
   * `#rrggbb` or `#rgb`: colour of the button. Links and edges are derived from it. Text keeps a contrast of at least
   * 4.5 with every colour. Must be a colour such as #17477a. Default: a blue.
   */
  readonly color?: string | undefined
  /**
   * A style sheet, loaded after the built-in one. Fonts and images may come from its origin. Must be a path that begins
   * with /, or an address that begins with https:.
   */
  readonly stylesheetUrl?: string | undefined
}

/** Extra links on the login page. Each is a path of the site's origin, or an `https:` address. */
export interface LoginPageLinks {
  /** Page for a forgotten password. Must be a path that begins with /, or an address that begins with https:. */
  readonly forgotPassword?: string | undefined
  /** Page that creates an account. Must be a path that begins with /, or an address that begins with https:. */
  readonly createAccount?: string | undefined
  /** Page with help. Must be a path that begins with /, or an address that begins with https:. */
  readonly help?: string | undefined
}

const LOGIN_NAMES = ['username', 'email'] as const
/** What users log in with. */
export type LoginName = (typeof LOGIN_NAMES)[number]

/** Content-Security-Policy of custom views: a string, a function that returns a string for a fresh nonce, or `false` for no header. */
export type ViewPolicy = string | ((nonce: string) => string) | false

/** Options for the look and language of the built-in pages. */
export interface BrandingOptions {
  /** Name, logo and colour on the built-in pages. */
  readonly brand?: BrandOptions | undefined
  /** Extra links on the login page. Omit a link to hide it. */
  readonly links?: LoginPageLinks | undefined
  /** Language of the built-in pages: texts and `lang`. Must be one of en, sv, nb, da, fi, de. Default: `'en'`. */
  readonly language?: Language | undefined
  /**
   * What users log in with. `'email'`: label and texts name the e-mail address, and the field accepts only one.
   * Default: `'username'`.
   */
  readonly loginName?: LoginName | undefined
  /**
   * Single texts of the built-in pages by code. They replace those of `language` (docs/login-pages.md). Must be an
   * object of texts by code.
   */
  readonly texts?: { readonly [Code in TextCode]?: string | undefined } | undefined
  /**
   * Content-Security-Policy of the pages that custom `views` render: a string, a function of the nonce, or `false` for
   * no header. Refused without `views`, because the built-in pages always have a policy of their own. Must be a policy
   * in one line, a function that makes one of a nonce, or false. Default: `false`.
   */
  readonly contentSecurityPolicy?: ViewPolicy | undefined
}

const COLOUR = 'must be a colour such as #17477a'

/** Can a header have this value: printable ASCII without line breaks? */
const isPolicy = (value: unknown): value is string => typeof value === 'string' && /^[\x20-\x7e]+$/.test(value)

const policy = z
  .custom<ViewPolicy>(
    (value) => value === false || typeof value === 'function' || isPolicy(value),
    'must be a policy in one line, a function that makes one of a nonce, or false',
  )
  .default(false)
  .describe(
    'Content-Security-Policy of the pages that custom `views` render: a string, a function of the nonce, or `false` for no header. Refused without `views`, because the built-in pages always have a policy of their own.',
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
  .describe('Single texts of the built-in pages by code. They replace those of `language` (docs/login-pages.md).')

const color = z
  .string({ error: COLOUR })
  .regex(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i, COLOUR)
  .optional()
  .meta({
    description:
      '`#rrggbb` or `#rgb`: colour of the button. Links and edges are derived from it. Text keeps a contrast of at least 4.5 with every colour.',
    defaultText: 'a blue',
  })

const loginName = z
  .enum(LOGIN_NAMES, { error: "must be 'username' or 'email'" })
  .default('username')
  .describe(
    "What users log in with. `'email'`: label and texts name the e-mail address, and the field accepts only one.",
  )

/** Returns the schema of the branding options. */
export const branding = (isProduction: boolean) => {
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
            .describe('Heading of each page and end of its title. With a logo, the text of the logo.'),
          logoUrl: place('The logo in place of the name.'),
          logoDarkUrl: place(
            'The logo on dark pages. The address of `logoUrl` if that logo can be read on dark pages too. Without it, dark pages show `name`.',
          ),
          color,
          stylesheetUrl: place(
            'A style sheet, loaded after the built-in one. Fonts and images may come from its origin.',
          ),
        },
        { error: 'must be { name, logoUrl, logoDarkUrl, color, stylesheetUrl }' },
      )
      .default({})
      .describe('Name, logo and colour on the built-in pages.'),
    links: z
      .object(
        {
          forgotPassword: place('Page for a forgotten password.'),
          createAccount: place('Page that creates an account.'),
          help: place('Page with help.'),
        },
        { error: 'must be { forgotPassword, createAccount, help }' },
      )
      .default({})
      .describe('Extra links on the login page. Omit a link to hide it.'),
    language: z
      .enum(LANGUAGES, { error: `must be one of ${LANGUAGES.join(', ')}` })
      .default('en')
      .describe('Language of the built-in pages: texts and `lang`.'),
    loginName,
    texts,
    contentSecurityPolicy: policy,
  }
}

/** Returns all texts of a site. Its own texts replace the built-in texts. */
export function textsIn(
  language: Language,
  loginName: LoginName,
  own: Readonly<Record<string, string | undefined>>,
): AllTexts {
  const given = Object.entries(own).filter(([, text]) => text !== undefined)
  const named = loginName === 'email' ? EMAIL_TEXTS[language] : {}
  return Object.freeze({ ...TEXTS[language], ...named, ...Object.fromEntries(given) })
}
