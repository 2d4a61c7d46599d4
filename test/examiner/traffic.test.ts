import type { RequestListener } from 'node:http'
import { Browser, type Hop } from '../../lib/examiner/browser'
import { evidenceOf } from '../../lib/examiner/evidence'
import { Seen } from '../../lib/examiner/seen'
import { readSettings } from '../../lib/examiner/settings'
import { beside } from './beside'

/* What the examiner sends and gets, and what the evidence of a check shows of it. */

/** Redirects by the last part of the path, and otherwise shows what has come. */
const echo: RequestListener = (req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '', 'http://site')
  const status = Number(pathname.slice(1))
  if (status >= 300) return void res.writeHead(status, { location: searchParams.get('to') ?? '' }).end()
  const { origin = '-', 'sec-fetch-site': from, cookie = '-' } = req.headers
  res.end(`${req.method} ${origin} ${from} ${cookie}`)
}

test.each([
  ['GET', 303, '127.0.0.1', 'GET - none -'],
  ['POST', 307, '127.0.0.1', 'POST ORIGIN same-origin -'],
  ['POST', 307, 'localhost', 'POST - cross-site -'],
])('a %s redirected with %d to %s arrives as %s', (method, status, host, expected) =>
  beside(echo, async ({ siteUrl }) => {
    const to = siteUrl.replace('127.0.0.1', host)
    const page = await new Browser('A', () => {}, {}).open(`${siteUrl}/${status}?to=${to}/`, { method })
    expect(page.text).toBe(expected.replace('ORIGIN', siteUrl))
  }),
)

const hopOf = (url: string, more: Partial<Hop>): Hop => {
  const request = { browser: 'A', at: 10, tick: 10, method: 'GET', url: new URL('/page', url), fields: {} }
  const response = { status: 200, setCookie: [], text: 'Hello', error: '', ms: 5, location: undefined }
  return { ...request, ...response, headers: { 'content-type': 'text/html' }, ...more }
}

test.each<[settings: object, response: Partial<Hop>, shown: string]>([
  [{}, {}, '200, no user'],
  [{}, { text: 'Hello NAME' }, '200, shows NAME'],
  [{ loggedIn: 'Hello' }, {}, '200, shows a user'],
  [{}, { status: 302, location: 'http://other.invalid/?a=b%20c&t=d&r=e' }, '302 → /?a=b%20c'],
  [{}, { status: 302, location: 'http://other.invalid/' }, '302 → http://other.invalid'],
  [{}, { status: 0, error: 'ECONNRESET' }, 'ECONNRESET'],
])('with %j the evidence of %j is %s', (settings, response, shown) =>
  beside(undefined, async (platform) => {
    const [, { name } = { name: '' }] = platform.accounts
    const hop = hopOf(platform.siteUrl, { ...response, text: (response.text ?? 'Hello').replace('NAME', name) })
    const { steps } = evidenceOf('a check', [hop], [], { platform, settings: readSettings(settings) })
    expect(steps.map((step) => step.name)).toEqual(['GET /page', shown.replace('NAME', name)])
  }),
)

test('the evidence numbers the values of cookies, masks passwords, and is cut in the middle', () =>
  beside(undefined, async (platform) => {
    const fields = { first: platform.accounts[0].password, second: platform.second.clientSecret, third: 'a name' }
    const url = new URL('/page?r=/a%2520b', platform.siteUrl)
    const setCookie = ['a=one; Path=/', 'b=; Max-Age=0', 'a=two']
    const hops = [...Array(31).keys()].map((tick) =>
      hopOf(platform.siteUrl, { at: tick, tick, url, cookie: 'a=two; a=one', setCookie, fields }),
    )
    const { steps } = evidenceOf('a check', hops, [], { platform, settings: readSettings({}) })
    const told = { first: '***', second: '***', third: 'a name', r: '/a%20b', cookie: 'a=#1; a=#2' }
    expect(steps[0]?.claims).toEqual(told)
    expect(steps.find(({ from }) => from === 'site')?.claims).toEqual({
      'set-cookie': 'a=#2; Path=/, b=; Max-Age=0, a=#1',
    })
    expect([steps.length, steps[30]?.name]).toEqual([61, '2 more steps'])
  }))

test('a printed secret is told with the request and the fault meanwhile', () =>
  beside(undefined, async (platform) => {
    const seen = new Seen(platform, readSettings({}))
    const print = (output: string, at: number) => seen.addOutput(output, hopOf(platform.siteUrl, { at }), 'outage/one')
    const at = Date.now()
    print('first-secret ', at)
    const call = { at, operation: 'authenticate', clientId: null, sid: null, claims: {}, outcome: 'no_answer' } as const
    platform.runtime.traces.add({ at: at + 100, sid: null, call: { ...call, fault: 'down' } })
    await new Promise((resolve) => setTimeout(resolve, 101))
    print('first-secret second-secret ', at)
    const during = 'printed during GET /page in the check outage/one'
    expect(['first-secret', 'second-secret', 'third-secret'].map((secret) => seen.printedDuring(secret))).toEqual([
      ` (${during})`,
      ` (${during}, while authenticate had the fault down)`,
      '',
    ])
  }))
