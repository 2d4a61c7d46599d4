import { gzipSync } from 'node:zlib'

/** An answer that no caller may take for one. */
export interface Garbage {
  what: string
  status?: number
  headers?: Record<string, string>
  /** @param good the body that would be right */
  body: (good: string) => string | Buffer
}

const tokenOf = (good: string) => String(Object.values(JSON.parse(good))[0])
const json = { 'content-type': 'application/json' }

/** Bodies that are wrong for every operation, of the SSO system, the token endpoint and the REST API. */
export const garbage: Garbage[] = [
  { what: 'nothing', body: () => '' },
  { what: 'nothing with a 204', status: 204, body: () => '' },
  { what: 'spaces', body: () => '   \n' },
  { what: 'a page', headers: { 'content-type': 'text/html' }, body: () => '<!doctype html><title>Sign in</title>' },
  { what: 'a page that says it is JSON', headers: json, body: () => '<html><body>Sign in</body></html>' },
  { what: 'XML', headers: { 'content-type': 'text/xml' }, body: (good) => `<t>${good}</t>` },
  { what: 'plain words', body: () => 'OK' },
  { what: 'a form', body: (good) => `t=${encodeURIComponent(good)}` },
  { what: 'null', headers: json, body: () => 'null' },
  { what: 'true', headers: json, body: () => 'true' },
  { what: 'a number', headers: json, body: () => '42' },
  { what: 'a text', headers: json, body: (good) => JSON.stringify(good) },
  { what: 'an empty list', headers: json, body: () => '[]' },
  { what: 'a list with the right answer', headers: json, body: (good) => `[${good}]` },
  { what: 'an empty object', headers: json, body: () => '{}' },
  { what: 'the right answer one level down', headers: json, body: (good) => `{"data":${good}}` },
  { what: 'the right answer in __proto__', headers: json, body: (good) => `{"__proto__":${good}}` },
  { what: 'the right answer in constructor', headers: json, body: (good) => `{"constructor":{"prototype":${good}}}` },
  { what: 'the right answer cut', headers: json, body: (good) => good.slice(0, -2) },
  { what: 'the first half of it', headers: json, body: (good) => good.slice(0, good.length / 2) },
  { what: 'the right answer twice', headers: json, body: (good) => good + good },
  { what: 'two lines of JSON', headers: json, body: (good) => `${good}\n${good}` },
  { what: 'words after the right answer', headers: json, body: (good) => `${good} OK` },
  { what: 'a guard of script inclusion before it', headers: json, body: (good) => `)]}',\n${good}` },
  { what: 'JSONP', headers: { 'content-type': 'text/javascript' }, body: (good) => `callback(${good})` },
  { what: 'a comment before it', headers: json, body: (good) => `/* ok */${good}` },
  { what: 'single quotation marks', headers: json, body: (good) => good.replaceAll('"', "'") },
  { what: 'names without quotation marks', headers: json, body: (good) => good.replace(/"(\w+)":/g, '$1:') },
  { what: 'a comma too many', headers: json, body: (good) => good.replace(/\}$/, ',}') },
  { what: 'a byte order mark', headers: json, body: (good) => `\ufeff${good}` },
  {
    what: 'UTF-16 that says so',
    headers: { 'content-type': 'application/json; charset=utf-16' },
    body: (good) => Buffer.from(`\ufeff${good}`, 'utf16le'),
  },
  { what: 'UTF-16 without a word', headers: json, body: (good) => Buffer.from(good, 'utf16le') },
  {
    what: 'random bytes',
    headers: json,
    body: () => Buffer.from(Array.from({ length: 256 }, (_none, i) => (i * 7) % 256)),
  },
  { what: 'gzip without a word', headers: json, body: (good) => gzipSync(good) },
  { what: 'no gzip that says it is', headers: { ...json, 'content-encoding': 'gzip' }, body: (good) => good },
  { what: 'a NUL in front', headers: json, body: (good) => `\u0000${good}` },
  { what: '600 KiB of spaces and then the right answer', headers: json, body: (good) => ' '.repeat(600_000) + good },
  {
    what: 'a megabyte in a few bytes of gzip',
    headers: { ...json, 'content-encoding': 'gzip' },
    body: (good) => gzipSync(' '.repeat(1_000_000) + good),
  },
  { what: 'ten thousand brackets', headers: json, body: () => '['.repeat(10_000) },
  {
    what: 'a page with a 404',
    status: 404,
    headers: { 'content-type': 'text/html' },
    body: () => '<h1>Not found</h1>',
  },
  {
    what: 'a page with a 403',
    status: 403,
    headers: { 'content-type': 'text/html' },
    body: () => '<h1>Forbidden</h1>',
  },
  { what: 'a page with a 500', status: 500, headers: { 'content-type': 'text/html' }, body: () => '<h1>Error</h1>' },
  { what: 'the right answer with a 500', status: 500, headers: json, body: (good) => good },
  { what: 'the right answer with a 503', status: 503, headers: json, body: (good) => good },
]

/** Bodies that are wrong for the operations of SSO2: `t` must be one text, a token that answers the question. */
export const tokenGarbage: Garbage[] = [
  { what: 't twice, the right one last', headers: json, body: (good) => `{"t":"a.b.c",${good.slice(1)}` },
  { what: 't twice, once with an escape', headers: json, body: (good) => `{"\\u0074":"a.b.c",${good.slice(1)}` },
  { what: 'T instead of t', headers: json, body: (good) => good.replace('"t"', '"T"') },
  { what: 't with a space', headers: json, body: (good) => good.replace('"t"', '"t "') },
  { what: 't as a list', headers: json, body: (good) => `{"t":["${tokenOf(good)}"]}` },
  { what: 't as an object', headers: json, body: (good) => `{"t":{"t":"${tokenOf(good)}"}}` },
  { what: 't that is null', headers: json, body: () => '{"t":null}' },
  { what: 't that is a number', headers: json, body: () => '{"t":1}' },
  { what: 't that is true', headers: json, body: () => '{"t":true}' },
  { what: 't that is empty', headers: json, body: () => '{"t":""}' },
  { what: 't with a line break', headers: json, body: (good) => `{"t":"${tokenOf(good)}\\n"}` },
  { what: 't with Bearer before it', headers: json, body: (good) => `{"t":"Bearer ${tokenOf(good)}"}` },
  { what: 't with its signature cut', headers: json, body: (good) => `{"t":"${tokenOf(good).slice(0, -4)}"}` },
  { what: 't without a signature', headers: json, body: (good) => `{"t":"${tokenOf(good).replace(/[^.]*$/, '')}"}` },
  { what: 't of 60 KiB', headers: json, body: (good) => `{"t":"${tokenOf(good)}${'A'.repeat(60_000)}"}` },
]
