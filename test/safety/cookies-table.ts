/** A Cookie header as an attacker, or an odd client, may send it. `NAME` and `VALUE` stand for our cookie. */
export interface CookieCase {
  what: string
  lines: string[]
  encoding?: BufferEncoding
}

const NBSP = '\u00a0'
const EN_QUAD = '\u2000'

/** Headers in which our cookie is not to be found. */
export const notOurs: CookieCase[] = [
  { what: 'an en quad (U+2000) before the name', lines: [`Cookie: ${EN_QUAD}NAME=VALUE`] },
  { what: 'a no-break space as the single byte A0', lines: [`Cookie: ${NBSP}NAME=VALUE`], encoding: 'latin1' },
  { what: 'the byte 85 (next line) before the name', lines: ['Cookie: a=1; \u0085NAME=VALUE'], encoding: 'latin1' },
  { what: 'a byte order mark before the name', lines: ['Cookie: \ufeffNAME=VALUE'] },
  { what: '$Version and a comma', lines: ['Cookie: $Version=1,NAME=VALUE'] },
  { what: 'a comma instead of the semicolon', lines: ['Cookie: a=1, NAME=VALUE'] },
  { what: 'an empty name', lines: ['Cookie: =NAME=VALUE'] },
  { what: 'the name in capitals', lines: ['Cookie: NAME_IN_CAPITALS=VALUE'] },
  { what: 'the name percent-encoded', lines: ['Cookie: NAME_ENCODED=VALUE'] },
  { what: 'the name in quotation marks', lines: ['Cookie: "NAME"=VALUE'] },
  { what: 'the name as the end of a longer one', lines: ['Cookie: xNAME=VALUE'] },
  { what: 'the name of the other scheme', lines: ['Cookie: NAME_OTHER_SCHEME=VALUE'] },
  { what: 'a Cookie2 header', lines: ['Cookie2: NAME=VALUE'] },
]

/** Headers with two values of our name. */
export const doubled: CookieCase[] = [
  { what: 'ours first', lines: ['Cookie: NAME=VALUE; NAME=s%3Aforged.signature'] },
  { what: 'ours last', lines: ['Cookie: NAME=s%3Aforged.signature; NAME=VALUE'] },
  { what: 'ours twice', lines: ['Cookie: NAME=VALUE; NAME=VALUE'] },
  { what: 'two header lines', lines: ['Cookie: NAME=VALUE', 'Cookie: NAME=VALUE'] },
]

/** Headers in which our cookie stands as the standard allows. */
export const ours: CookieCase[] = [
  { what: 'alone', lines: ['Cookie: NAME=VALUE'] },
  { what: 'among others', lines: ['Cookie: a=1; NAME=VALUE; b=2'] },
  { what: 'with a tab and spaces around', lines: ['Cookie: a=1;\t  NAME = VALUE \t; b=2'] },
  { what: 'after garbage', lines: ['Cookie: ;;; =; a; ==; NAME=VALUE'] },
  { what: 'after $Version, which means nothing any more', lines: ['Cookie: $Version=1; NAME=VALUE; $Path=/'] },
  { what: 'beside an odd spelling of itself', lines: [`Cookie: ${EN_QUAD}NAME=s%3Aforged.x; NAME=VALUE`] },
]
