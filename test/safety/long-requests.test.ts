import type { Request } from 'express'
import { deviceOf, isForPage, isForPageOfPerson, readCookie, requestAddress } from '../../lib/web/http/request-facts'
import { removeLandingQuery } from '../../lib/web/routes/landing'
import { make } from '../support/configuration'
import { useSetup } from '../support/setup'
import { rawGet } from './cookies-raw'

/* One request of a stranger's, as long as Node.js takes one, must not keep everybody else waiting. */

const setup = useSetup()

const LENGTH = 15_000
const long = (text: string) => text.repeat(LENGTH / text.length)

const requests: [name: string, path: string, cookie: string][] = [
  ['blanks within a cookie of ours', '/', `sso2.sid=a${long(' ')}b`],
  ['tabs within a cookie of ours', '/', `sso2.sid=a${long('\t')}b`],
  ['blanks before the name of one', '/', `x${long(' ')}sso2.sid=b`],
  ['blanks behind the name of one', '/', `sso2.sid${long(' ')}x=b`],
  ['cookies without end', '/', long('sso2.sid=a;')],
  ['marks of a query at the landing page', `/sso2/landing${long('?')}`, ''],
  ['names without values at the landing page', `/sso2/landing?${long('a&')}`, ''],
  ['tokens without end at the landing page', `/sso2/landing?${long('t=a&')}`, ''],
  ['marks of a query', `/${long('?')}`, ''],
  ['slashes', long('/'), ''],
]

const ask = (path: string, cookie: string) =>
  rawGet(setup.morning.url, path, ['Accept: */*', ...(cookie === '' ? [] : [`Cookie: ${cookie}`])])

async function time(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** The least of five, or of as many as a busy machine needs, in turn with requests of the same length that are nothing special: a busy machine does not count. */
test.each(requests)('[T14] %s: answered as quickly as any other request', async (_name, path, cookie) => {
  let [usual, special] = [Infinity, Infinity]
  for (let round = 0; round < 5 || (round < 50 && special >= 20 + 10 * usual); round += 1) {
    usual = Math.min(usual, await time(() => ask('/', `sso2.sid=${long('a')}`)))
    special = Math.min(special, await time(() => ask(path, cookie)))
  }
  expect(special).toBeLessThan(20 + 10 * usual)
})

/** A request with a long part. It has what the readers of lib/web/http look at. */
const requestOf = (url: string, headers: Record<string, string> = {}, more: object = {}) =>
  ({ method: 'GET', url, originalUrl: url, headers, ...more }) as Request

/** The least of many rounds, in milliseconds of this process on a processor: a busy machine lets it wait. */
function cpuTime(run: () => void): number {
  const times = Array.from({ length: 60 }, () => {
    const start = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  })
  return Math.min(...times)
}

const pairs = ['a&', 't&', 't=a&', '%74=&', '%&', '+=&', '?&', '=', '&']
const ofCookies = (text: string) => requestOf('/', { cookie: `sso2.sid=a;${long(text)}` })
const config = make()
const readers: [name: string, run: () => void][] = [
  ...['GET', 'POST', 'HEAD'].flatMap((method) =>
    pairs.map((text): [string, () => void] => [
      `parameters ${text} of a ${method} of the landing page`,
      () => void removeLandingQuery(requestOf(`/sso2/landing?${long(text)}`, {}, { method })),
    ]),
  ),
  ...['sso2.sid=a;', 'sso2.sid;', ';', ' ;', 'a=b;', 'sso2.s=1.1;'].map((text): [string, () => void] => [
    `cookies ${text}`,
    () => void readCookie(ofCookies(text), 'sso2.sid'),
  ]),
  ...['a/1.', ' ', '(', 'http', 'bo ', '\t'].map((text): [string, () => void] => [
    `a user agent of ${JSON.stringify(text)}`,
    () => void isForPageOfPerson(requestOf('/', { 'user-agent': long(text), 'sec-fetch-dest': 'document' })),
  ]),
  ...[',', ' ', ', ', 'a/b,', 'text/html', ',text/html ', '/json ', '+json'].map((text): [string, () => void] => [
    `an Accept of ${JSON.stringify(text)}`,
    () => void isForPage(requestOf('/', { accept: long(text) })),
  ]),
  ...['1,', '[', '::ffff:', '1.1.1.1:1'].map((ip): [string, () => void] => [
    `a forwarded address of ${ip}`,
    () => void deviceOf(requestOf('/', {}, { ip: long(ip) })),
  ]),
  ...['a&', 'a/', '?', 'http://', '%', 'sso2=&'].map((text): [string, () => void] => [
    `a target of ${text}`,
    () => void requestAddress(requestOf(`/${long(text)}`), config, true),
  ]),
]

test.each(readers)('[T14] %s: read in less than a millisecond', (_name, run) => {
  expect(cpuTime(run)).toBeLessThan(1)
})
