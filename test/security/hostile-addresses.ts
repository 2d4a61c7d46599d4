/* Values of `r` and `return_to`. All branches of the check are in test/unit/return-to.test.ts: here is one of each kind. */

/** Values that must never lead away from `origin`. */
export function hostileAddresses(origin: string): string[] {
  const { protocol, host, hostname, port } = new URL(origin)
  const slashes = ['//', '///', '\\\\', '/\\', '\\/', '/\t/', '/\n/', ' //', '\u0000//', '/\uff0f', '%2f%2f', '/%5c']
  const paths = ['/.//', '/a/..//', '/%2e%2e//', '/;//', '/@']
  const schemes = ['https:/', 'HTTP://', 'https:\\', 'ht\ttps://', ' https://', '\u0001http://', 'ftp://', 'file://']
  const marks = ['\r\n', '\t', '\u0000', '\u2029', '%0d%0a', '%00', '%40']
  return [
    ...[...slashes, ...paths, ...schemes].map((start) => `${start}evil.example/a?b=c`),
    ...['//evil\u3002example/', '//\u0435vil.example/', '/\\[::1]:81/', 'https://a:b@evil.example:1/'],
    ...[
      'javascript:alert(1)',
      '\tjavascript:alert(1)',
      'JAVASCRIPT\t:alert(1)',
      'data:text/html,<script>alert(1)</script>',
    ],
    ...marks.flatMap((mark) => [
      `${mark}//evil.example/`,
      `${origin}${mark}@evil.example/`,
      `/a${mark}Set-Cookie:%20hostile=1`,
    ]),
    ...['.evil.example/', '@evil.example/', '0/', ':1/', '\\@evil.example/', ';@evil.example/'].map(
      (end) => origin + end,
    ),
    ...['user@', '@', 'sub.'].map((start) => `${protocol}//${start}${host}/`),
    `https://${host}/`,
    `${protocol}//${hostname}.:${port}/`,
    `${protocol}//evil.example#${origin}/`,
    `${protocol}//evil.example\\@${host}/`,
    `javascript://${host}/%0aalert(1)`,
    `${origin}/?sso2=1.AAAAAAAAAAAAAAAAAAAAAA&r=//evil.example/`,
    ...['/a,//evil.example/', 'evil.example', '?//evil.example', '..', ' ', '__proto__'],
    `//${'a'.repeat(2_500)}.example/`,
    `/${'a'.repeat(2_500)}`,
  ]
}

const own = ['/', '/a//b', '/a/../b', "/a'b", '/a&b=c', '/a|b^c`d{e}', '/a"b<c>', '/caf%c3%a9', '/a%2Fb', '/a%zz']
const ends = ['?', '?&&b', '?a=1&a=2&b', '?q=caf%C3%A9+cr%c3%a8me%20x', '?a=//other.example/b', '?t=token&r=return']
const fragments = ['#', '#!/a', '#//other.example', '#sso2=mine']

/** Addresses of ordinary sites, and where they lead to: byte for byte there. */
export function benignAddresses(origin: string, trusted: string): { value: string; leadsTo: string }[] {
  const paths = [...own, ...[...ends, ...fragments].map((end) => `/a${end}`), '/http://other.example/a']
  return [
    ...paths.map((path) => ({ value: path, leadsTo: origin + path })),
    ...[`${origin}/a?b#c`, `${trusted}/a?b#c`].map((address) => ({ value: address, leadsTo: address })),
  ]
}
