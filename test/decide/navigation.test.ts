import { isDocumentNavigation, isPrefetch, isSameOriginPost, type RequestShape } from '../../lib/decide/navigation'

const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
const modern: RequestShape = { method: 'GET', accept: html, secFetchDest: 'document', purpose: undefined }
const older: RequestShape = { ...modern, secFetchDest: undefined }

type Row = [name: string, shape: RequestShape, verdict: boolean]
const refused = (field: keyof RequestShape, values: readonly string[]) =>
  values.map((value): Row => [`${field} ${JSON.stringify(value)}`, { ...modern, [field]: value }, false])

test.each<Row>([
  ['a document', modern, true],
  ['a document, whatever it accepts', { ...modern, accept: '*/*' }, true],
  ['an older browser\u2019s page', older, true],
  ['an older browser\u2019s page in capitals', { ...older, accept: 'TEXT/HTML' }, true],
  ['a client that accepts anything', { ...older, accept: '*/*' }, false],
  ['a client that accepts HTML last', { ...older, accept: 'application/json, text/html' }, false],
  ['a client that accepts nothing said', { ...older, accept: undefined }, false],
  ['an older browser\u2019s page after a space', { ...older, accept: ' text/html' }, true],
  ['a client that accepts something like HTML', { ...older, accept: 'x-text/html' }, false],
  ...refused('secFetchDest', ['iframe', 'frame', 'empty', 'image', 'script', 'style', 'embed', 'object', 'worker', '']),
  ...refused('method', ['POST', 'HEAD', 'PUT', 'OPTIONS', 'get']),
  ...refused('purpose', ['prefetch', 'prefetch;prerender', 'Prefetch', 'prerender', 'preview']),
])('a request is judged by its shape: %s', (_name, shape, verdict) => {
  expect(isDocumentNavigation(shape)).toBe(verdict)
})

test('only a purpose makes a prefetch', () => {
  const purposes = [undefined, '', 'other', 'prefetch']
  expect(purposes.filter((purpose) => isPrefetch({ purpose }))).toEqual(['prefetch'])
})

const site = 'https://news.example'

test.each<[secFetchSite: string | undefined, origin: string | undefined, taken: boolean]>([
  ['same-origin', undefined, true],
  ['same-origin', site, true],
  ['same-site', site, false],
  ['cross-site', site, false],
  ['none', site, false],
  ['', site, false],
  ['Same-Origin', site, false],
  [undefined, site, true],
  [undefined, undefined, false],
  [undefined, 'null', false],
  [undefined, '', false],
  [undefined, 'https://NEWS.example', false],
  [undefined, 'http://news.example', false],
  [undefined, 'https://news.example:8443', false],
  [undefined, 'https://news.example.evil.example', false],
  [undefined, 'https://shop.news.example', false],
])('a POST with Sec-Fetch-Site %j and Origin %j is taken: %s', (secFetchSite, origin, taken) => {
  expect(isSameOriginPost({ secFetchSite, origin }, site)).toBe(taken)
})
