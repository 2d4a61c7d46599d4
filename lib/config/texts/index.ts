/** Texts of the built-in pages, by language and code. The option `texts` replaces single texts. */
import { DA } from './da'
import { DE } from './de'
import { type AllTexts, EN, type TextCode } from './en'
import { FI } from './fi'
import { NB } from './nb'
import { SV } from './sv'

/** Languages of the built-in pages, by their tags in HTML. */
export const LANGUAGES = ['en', 'sv', 'nb', 'da', 'fi', 'de'] as const
/** Tag of a language of the built-in pages. */
export type Language = (typeof LANGUAGES)[number]

/** All texts of all languages. */
export const TEXTS: Readonly<Record<Language, AllTexts>> = Object.freeze({
  en: EN,
  sv: SV,
  nb: NB,
  da: DA,
  fi: FI,
  de: DE,
})

/** Is there a text with this code? */
export const isTextCode = (code: string): code is TextCode => Object.hasOwn(EN, code)
