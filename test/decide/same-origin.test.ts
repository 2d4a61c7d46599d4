import { isSameOriginPost } from '../../lib/decide/navigation'

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
