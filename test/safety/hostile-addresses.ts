/* Values of `r` and `return_to`. All branches of the check are in test/unit/return-to.test.ts: here is one of each kind. */

const slashes = [
  '//',
  '///',
  '\\\\',
  '/\\',
  '\\/',
  '/\t/',
  '/\n/',
  ' //',
  '\u0000//',
  '\u00a0//',
  '\u2028//',
  '/\uff0f',
]
const encodedSlashes = [
  '%2f%2f',
  '/%2f',
  '/%5c',
  '/%09/',
  '/%252f',
  '/.//',
  '/a/..//',
  '/%2e%2e//',
  '/;//',
  './/',
  '/@',
]
const schemes = ['http:', 'https:/', 'HTTP://', 'https:\\', 'ht\ttps://', ' https://', '\u0001http://', 'http%3a//']
const otherSchemes = ['ftp://', 'wss://', 'file://', 'blob:https://', 'view-source:http://']
const hosts = [
  'evil\u3002example',
  '\u0435vil.example',
  '%65vil.example',
  '[::1]:81',
  '2130706433',
  'a:b@evil.example:1',
]
const scripts = ['javascript:alert(1)', 'data:text/html,<script>alert(1)</script>', 'vbscript:msgbox(1)', 'about:blank']
const marks = ['\r', '\n', '\r\n', '\t', '\u0000', '\u2029', ' ', '\u560a\u560d', '%0d%0a', '%09', '%00', '%5c', '%40']

/** Every place that a mark may be put into. */
const places = (origin: string, mark: string) => [
  `${mark}//evil.example/`,
  `/${mark}/evil.example/`,
  `http:${mark}//evil.example/`,
  `${origin}${mark}@evil.example/`,
  `${origin}${mark}.evil.example/`,
  `/a${mark}Set-Cookie:%20hostile=1`,
  `${origin}/a#${mark}Refresh:0;url=//evil.example`,
]

/** Addresses that look like the site's own. */
function lookAlikes(origin: string): string[] {
  const { protocol, host, hostname, port } = new URL(origin)
  const ends = [
    '.evil.example/',
    '-evil.example/',
    '@evil.example/',
    ':80@evil.example/',
    '%40evil.example/',
    '0/',
    ':1/',
  ]
  const oddEnds = [
    '\\@evil.example/',
    '\\..\\evil.example',
    ';@evil.example/',
    '#@evil.example/',
    '?@evil.example/',
    '\\',
  ]
  return [
    ...[...ends, ...oddEnds].map((end) => origin + end),
    `${protocol === 'http:' ? 'https:' : 'http:'}//${host}/`,
    `${protocol}//user@${host}/`,
    `${protocol}//@${host}/`,
    `${protocol}//sub.${host}/`,
    `${protocol}//${hostname}/`,
    `${protocol}//${hostname}.:${port}/`,
    `${protocol}//${hostname.replace('o', '\u043e')}:${port}/`,
    `${protocol}//evil.example#${origin}/`,
    `${protocol}//evil.example\\@${host}/`,
    `//${host}@evil.example/`,
    `${protocol}/${host}/`,
    `${protocol}\\\\${host}\\`,
    `javascript://${host}/%0aalert(1)`,
  ]
}

/** One value inside another, values that are several, and values that are long. */
const others = (origin: string) => [
  '/sso2/landing?t=a&r=//evil.example/',
  `${origin}/?sso2=1.AAAAAAAAAAAAAAAAAAAAAA&r=//evil.example/`,
  'http://evil.example/?sso2=1.AAAAAAAAAAAAAAAAAAAAAA',
  '["//evil.example/"]',
  '/a,//evil.example/',
  'evil.example',
  '@evil.example',
  '?//evil.example',
  '..',
  ' ',
  'undefined',
  '__proto__',
  `//${'a'.repeat(2_500)}.example/`,
  `/${'a'.repeat(2_500)}`,
  `${'\\'.repeat(1_500)}evil.example/`,
]

/** Values that must never lead away from `origin`. All are distinct. */
export function hostileAddresses(origin: string): string[] {
  const all = [
    ...[...slashes, ...encodedSlashes].map((slash) => `${slash}evil.example/`),
    ...[...schemes, ...otherSchemes].map((scheme) => `${scheme}evil.example/a?b=c`),
    ...hosts.flatMap((host) => [`//${host}/`, `https://${host}/`, `/\\${host}/`]),
    ...scripts.flatMap((script) => [script, script.toUpperCase(), `\t${script}`, script.replace(':', '\t:')]),
    ...marks.flatMap((mark) => places(origin, mark)),
    ...lookAlikes(origin),
    ...others(origin),
  ]
  return [...new Set(all)]
}

const paths = ['/', '/a/', '/a//b', '/a/../b', '/..', '/~ada', '/a;b=c', "/a'b", '/a&b=c', '/a:b@c', '/a|b^c`d{e}']
const encodedPaths = ['/a"b<c>', '/sm%C3%B8r', '/caf%c3%a9', '/a%20b', '/a%2Fb', '/a%5Cb', '/a%25b', '/a%zz', '/a%E9']
const queries = ['?', '?&&b', '?=', '?a', '?a=1&a=2&b', '?q=caf%C3%A9+cr%c3%a8me%20x', '?a=//other.example/b', '?a=\\b']
const oddQueries = ['?a=b?c', '?filter[tag][]=one', '?t=token&r=return', '?xsso2=too', '?__proto__=1', '?a=%0d%0ab']
const fragments = ['#', '#/a/b', '#!/a', '#//other.example', '#sso2=mine', '#a#b']

/** Addresses of ordinary sites, and where they lead to: byte for byte there. */
export function benignAddresses(origin: string, trusted: string): { value: string; leadsTo: string }[] {
  const more = [...queries, ...oddQueries, ...fragments].map((end) => `/a${end}`)
  const own = [...paths, ...encodedPaths, ...more, '/http://other.example/a', '/a/javascript:b']
  const absolute = own.filter((_path, index) => index % 4 === 0).flatMap((path) => [origin + path, trusted + path])
  return [
    ...own.map((path) => ({ value: path, leadsTo: origin + path })),
    ...absolute.map((address) => ({ value: address, leadsTo: address })),
  ]
}
