import { gzipSync } from 'node:zlib'

/** An answer that no caller may take for one. */
interface Garbage {
  what: string
  status?: number
  headers?: Record<string, string>
  /** @param good the body that would be right */
  body: (good: string) => string | Buffer
}

const tokenOf = (good: string) => String(Object.values(JSON.parse(good))[0])
const json = { 'content-type': 'application/json' }
const html = { 'content-type': 'text/html' }
const gzip = { ...json, 'content-encoding': 'gzip' }

/** Bodies that are wrong for every operation, of the SSO system, the token endpoint and the REST API. */
export const garbage: Garbage[] = [
  { what: 'nothing', body: () => '' },
  { what: 'a page', headers: html, body: () => '<!doctype html><title>Sign in</title>' },
  { what: 'null', headers: json, body: () => 'null' },
  { what: 'a list with the right answer', headers: json, body: (good) => `[${good}]` },
  { what: 'an empty object', headers: json, body: () => '{}' },
  { what: 'the right answer one level down', headers: json, body: (good) => `{"data":${good}}` },
  { what: 'the right answer in __proto__', headers: json, body: (good) => `{"__proto__":${good}}` },
  { what: 'the right answer cut', headers: json, body: (good) => good.slice(0, -2) },
  { what: 'words after the right answer', headers: json, body: (good) => `${good} OK` },
  { what: 'UTF-16', headers: json, body: (good) => Buffer.from(good, 'utf16le') },
  { what: 'a gzip that is none', headers: gzip, body: (good) => good },
  { what: 'a gzip of a megabyte', headers: gzip, body: (good) => gzipSync(' '.repeat(1_000_000) + good) },
  { what: 'ten thousand brackets', headers: json, body: () => '['.repeat(10_000) },
  { what: 'the right answer with a 500', status: 500, headers: json, body: (good) => good },
]

/** Bodies that are wrong for the operations of SSO2: `t` must be one text, a token that answers the question. */
export const tokenGarbage: Garbage[] = [
  { what: 't twice, the right one last', headers: json, body: (good) => `{"t":"a.b.c",${good.slice(1)}` },
  { what: 't twice, once with an escape', headers: json, body: (good) => `{"\\u0074":"a.b.c",${good.slice(1)}` },
  { what: 'T instead of t', headers: json, body: (good) => good.replace('"t"', '"T"') },
  { what: 't as a list', headers: json, body: (good) => `{"t":["${tokenOf(good)}"]}` },
  { what: 't without a signature', headers: json, body: (good) => `{"t":"${tokenOf(good).replace(/[^.]*$/, '')}"}` },
]
