/* Requests as only a raw socket, or an attacker, spells them. */

/** Request targets that may be misread as the address of another site. */
export const oddTargets: readonly string[] = [
  '//evil.example/a?b=c',
  '///evil.example/',
  '/\\evil.example',
  '\\\\evil.example',
  '/%2Fevil.example',
  '/%5cevil.example',
  '/.//evil.example/',
  '/a/..//evil.example/',
  '/%2e%2e//evil.example/',
  '/@evil.example',
  '/:80@evil.example/',
  'http://evil.example/a?b=c',
  'HTTPS://evil.example/a',
  'http:\\\\evil.example',
  'javascript:alert(1)',
  'evil.example:80',
  '@evil.example',
  '*',
  '?//evil.example',
  '/#//evil.example',
  '/\t/evil.example',
  '/a\u00e9\u00ff',
  '/a?sso2=1.AAAAAAAAAAAAAAAAAAAAAA&r=//evil.example',
  `/${'a'.repeat(3000)}`,
  'http://evil.example/login?return_to=/a',
  '//evil.example/login?return_to=/a',
  'http://evil.example/sso2/landing?t=a&r=http://evil.example/',
  'http://evil.example/account',
  '/account//evil.example/..',
]

/** Headers that claim another host. */
export const poison: [string, Record<string, string>][] = [
  ['Host', { host: 'evil.example' }],
  ['X-Forwarded-Host', { 'x-forwarded-host': 'evil.example' }],
  ['Forwarded', { forwarded: 'for=203.0.113.9;host=evil.example;proto=https' }],
  ['X-Forwarded-Proto', { 'x-forwarded-proto': 'https', 'x-forwarded-ssl': 'on' }],
  ['X-Forwarded-Port', { 'x-forwarded-port': '1', 'x-forwarded-server': 'evil.example' }],
  ['X-Original-URL', { 'x-original-url': '//evil.example/', 'x-rewrite-url': 'http://evil.example/' }],
  ['X-Host', { 'x-host': 'evil.example', 'x-http-host-override': 'evil.example', 'x-original-host': 'evil.example' }],
  ['Origin and Referer', { referer: 'http://evil.example/' }],
]

/** Queries of the landing with the status each gets; `TOKEN` stands for a good token. */
export const oddQueries: [string, number][] = [
  ['t', 303],
  ['r=/', 400],
  ['t[]=TOKEN&r=/', 400],
  ['t[x]=TOKEN&r=/', 400],
  ['%20t=TOKEN&r=/', 400],
  ['__proto__[t]=TOKEN&r=/', 400],
  ['t=TOKEN&t=TOKEN&r=/', 400],
  ['t=TOKEN&%74=TOKEN&r=/', 400],
  ['t=TOKEN&r=/&r=//evil.example', 400],
  ['t=TOKEN&r=/&%72=/b', 400],
  ['t=TOKEN;r=/', 303],
  ['t==TOKEN&r=/', 303],
  ['t=TOKEN%00&r=/', 303],
  ['t=%ff%fe&r=/', 303],
  ['t=TOKEN&R=/', 303],
  ['t=TOKEN&r[x]=/', 303],
]
