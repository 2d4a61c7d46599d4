import {
  isCrossSitePost,
  isForPage,
  isForPageOfPerson,
  isSameOriginPost,
  type Reader,
  readerOf,
  type Sent,
} from '../../lib/decide/navigation'

/** Method and headers of a request, by short names. */
interface RequestShape {
  method: string
  accept?: string
  agent?: string | undefined
  secFetchMode?: string | undefined
  secFetchDest?: string
  secFetchSite?: string | undefined
  origin?: string | undefined
  purpose?: string | undefined
  htmx?: string
  turboFrame?: string
}
const sent = (shape: RequestShape): Sent => ({
  method: shape.method,
  headers: {
    accept: shape.accept,
    'user-agent': shape.agent,
    'sec-fetch-mode': shape.secFetchMode,
    'sec-fetch-dest': shape.secFetchDest,
    'sec-fetch-site': shape.secFetchSite,
    'hx-request': shape.htmx,
    'turbo-frame': shape.turboFrame,
    purpose: shape.purpose,
    origin: shape.origin,
  },
})

const html = 'text/html,application/xhtml+xml,*/*;q=0.8'
const modern: RequestShape = { method: 'GET', accept: html, secFetchMode: 'navigate', secFetchDest: 'document' }
const older: RequestShape = { method: 'GET', accept: html }
const kindle = 'text/xml,application/xml,application/xhtml+xml,text/html;q=0.9,*/*;q=0.5'

const isPage = (shape: RequestShape) => readerOf(sent(shape)) === 'page'

type Row = [name: string, shape: RequestShape, verdict: boolean]
const refused = (field: keyof RequestShape, values: readonly string[]) =>
  values.map((value): Row => [`${field} ${JSON.stringify(value)}`, { ...modern, [field]: value }, false])

test.each<Row>([
  ['a document', modern, true],
  ['a document, whatever it accepts', { ...modern, accept: '*/*' }, true],
  ['a document that a service worker passes on', { ...modern, secFetchDest: 'empty' }, true],
  ['a script that sends no mode', { ...modern, secFetchMode: undefined, secFetchDest: 'empty' }, false],
  ['an older browser’s page', older, true],
  ['an e-reader’s page, which accepts HTML after XML', { ...older, accept: kindle }, true],
  ['a client that accepts HTML before JSON', { ...older, accept: 'text/html, application/json;q=0.9' }, true],
  ['a client that accepts anything', { ...older, accept: '*/*' }, false],
  ['a client that accepts JSON before HTML', { ...older, accept: 'application/json, text/html' }, false],
  ...refused('secFetchDest', ['iframe', 'image', '']),
  ...refused('method', ['POST', 'HEAD']),
  ...refused('purpose', ['prefetch', 'prefetch;prerender', 'preview']),
])('a page load is known by its shape: %s', (_name, shape, verdict) => {
  expect(isPage(shape)).toBe(verdict)
})

test('a prefetch of a page is a request for a page, but no page load', () => {
  const shape = { ...modern, purpose: 'prefetch' }
  const hint = { ...shape, secFetchMode: 'no-cors', secFetchDest: 'empty' }
  for (const one of [shape, hint]) expect([isForPage(sent(one)), isPage(one)]).toEqual([true, false])
  for (const one of [
    { ...hint, accept: '*/*' },
    { ...hint, purpose: undefined },
    { ...hint, secFetchMode: 'cors' },
  ])
    expect(isForPage(sent(one))).toBe(false)
})

const frame = { ...modern, secFetchDest: 'iframe', secFetchSite: 'same-origin' }
const turboForm = 'text/vnd.turbo-stream.html, text/html, application/xhtml+xml'
test.each<[what: string, shape: RequestShape, reader: Reader]>([
  ['a form that a person sends', { ...modern, method: 'POST' }, 'form'],
  ['a form that Turbo sends', { method: 'POST', accept: turboForm, secFetchMode: 'cors' }, 'form'],
  ['a POST by a script', { ...modern, method: 'POST', secFetchMode: 'cors', secFetchDest: 'empty' }, 'script'],
  ['a frame of the site', frame, 'frame'],
  ['a form within a frame', { ...frame, method: 'POST' }, 'frame'],
  ['a frame of another site', { ...frame, secFetchSite: 'cross-site' }, 'script'],
  ['htmx', { ...modern, secFetchMode: 'cors', htmx: 'true' }, 'script'],
  ['a frame of Turbo', { ...modern, secFetchMode: 'cors', turboFrame: 'a' }, 'script'],
])('%s: who reads the answer', (_what, shape, reader) => {
  expect(readerOf(sent(shape))).toBe(reader)
})

const isPerson = (agent: string | undefined) => isForPageOfPerson(sent({ ...modern, agent }))
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)'
test.each([
  undefined,
  'DailyNews/3.1',
  `${iphone} Mobile/15E148`,
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36',
  ...['DailyNews/3.1', 'RadarRSS/9', 'NewsTools/2'].map((app) => `${iphone} Mobile/15E148 ${app}`),
  'Mozilla/5.0 (Linux; Android 9; CUBOT NOTE 20) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36',
])('a person: %s', (agent) => {
  expect(isPerson(agent)).toBe(true)
})

test.each([
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'facebookexternalhit/1.1',
  'Mozilla/5.0 (compatible; ChatGPT-User/1.0; +https://openai.com/bot)',
  'python-requests/2.32.0',
])('a crawler or program that announces itself: %s', (agent) => {
  expect(isPerson(agent)).toBe(false)
})

const site = 'https://news.example'

test.each<[secFetchSite: string | undefined, origin: string | undefined, taken: boolean]>([
  ['same-origin', undefined, true],
  ['same-site', site, false],
  ['cross-site', site, false],
  ['none', site, false],
  ['', site, false],
  [undefined, site, true],
  [undefined, undefined, false],
  [undefined, 'null', false],
  [undefined, 'https://news.example.evil.example', false],
])('a POST with Sec-Fetch-Site %j and Origin %j is taken: %s', (secFetchSite, origin, taken) => {
  expect(isSameOriginPost(sent({ method: 'POST', secFetchSite, origin }), site)).toBe(taken)
})

const page = { method: 'POST', secFetchSite: undefined, origin: undefined }
test.each([
  ['a form of another site', { ...page, secFetchSite: 'cross-site', origin: 'https://pay.example' }, true],
  ['the same, of a page without an origin', { ...page, origin: 'null' }, true],
  ['a link of another site, which brings the cookie', { ...page, method: 'GET', secFetchSite: 'cross-site' }, false],
  ['a form of a sister domain, which brings the cookie', { ...page, secFetchSite: 'same-site' }, false],
  ['a form of the site', { ...page, origin: site }, false],
  ['a server that calls', page, false],
])('a POST for which a browser keeps its cookies back: %s', (_what, sender, verdict) => {
  expect(isCrossSitePost(sent(sender), site)).toBe(verdict)
})
