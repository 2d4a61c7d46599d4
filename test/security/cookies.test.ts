import { randomBytes } from 'node:crypto'
import cookieParser from 'cookie-parser'
import express from 'express'
import type { Sso2 } from '../../lib'
import { isExpiry, parseSetCookie, rawGet, signedId } from '../support/raw'
import { useRedis } from '../support/redis'
import {
  ada,
  addPages,
  type Build,
  type Gates,
  grace,
  logIn,
  logInAtLast,
  pages,
  present,
  type Setup,
  sessionSecret,
  startSetup,
  view,
  visitor,
} from '../support/setup'
import { loggedInBrowserAt, startSite } from '../support/site'

/** A Cookie header as an attacker, or an odd client, may send it. `NAME` and `VALUE` stand for our cookie. */
interface CookieCase {
  what: string
  lines: string[]
}

const EN_QUAD = '\u2000'

/** Headers in which our cookie is not to be found. */
const notOurs: CookieCase[] = [
  { what: 'an en quad (U+2000) before the name', lines: [`Cookie: ${EN_QUAD}NAME=VALUE`] },
  { what: 'a byte order mark before the name', lines: ['Cookie: \ufeffNAME=VALUE'] },
  { what: 'a comma instead of the semicolon', lines: ['Cookie: a=1, NAME=VALUE'] },
  { what: 'the name in capitals', lines: ['Cookie: NAME_IN_CAPITALS=VALUE'] },
  { what: 'the name as the end of a longer one', lines: ['Cookie: xNAME=VALUE'] },
  { what: 'the name of the other scheme', lines: ['Cookie: NAME_OTHER_SCHEME=VALUE'] },
]

/** Headers with two values of our name. */
const doubled: CookieCase[] = [
  { what: 'ours first', lines: ['Cookie: NAME=VALUE; NAME=s%3Aforged.signature'] },
  { what: 'ours last', lines: ['Cookie: NAME=s%3Aforged.signature; NAME=VALUE'] },
]

/** Headers in which our cookie stands as the standard allows. */
const ours: CookieCase[] = [
  { what: 'with a tab and spaces before', lines: ['Cookie: a=1;\t  NAME=VALUE; b=2'] },
  { what: 'after garbage', lines: ['Cookie: ;;; =; a; ==; NAME=VALUE'] },
  { what: 'beside an odd spelling of itself', lines: [`Cookie: ${EN_QUAD}NAME=s%3Aforged.x; NAME=VALUE`] },
]

/** What stands before a site that speaks https to the world: redirects to its own address come back over plain http. */
function behindTls(sso: Sso2, gates: Gates) {
  const app = express()
  app.use((req, res, next) => {
    const setHeader = res.setHeader.bind(res)
    const inside = (value: unknown) => String(value).replace(/^https:\/\/\w+\.localhost/, `http://${req.headers.host}`)
    res.setHeader = (name, value) => setHeader(name, name.toLowerCase() === 'location' ? inside(value) : value)
    next()
  })
  app.use(sso)
  return addPages(app, sso, gates)
}

/** A site of which each `Set-Cookie` is kept. */
const recorded =
  (build: Build, lines: string[]): Build =>
  (sso, gates) => {
    const site = build(sso, gates)
    return (req, res) => {
      res.once('finish', () => lines.push(...[res.getHeader('set-cookie') ?? []].flat().map(String)))
      site(req, res)
    }
  }

const schemes = ['http', 'https']
const stories = new Map<string, Awaited<ReturnType<typeof startStory>>>()
const storyOf = (scheme: string) => present(stories.get(scheme))
const redis = useRedis()

beforeAll(async () => {
  for (const scheme of schemes) stories.set(scheme, await startStory(scheme))
})
afterAll(async () => {
  for (const { setup } of stories.values()) await setup.close()
})

/**
 * A setup whose sites are known to the world under one scheme, every `Set-Cookie` of a whole story there, and a browser that is logged in,
 * with its session cookie.
 */
async function startStory(scheme: string) {
  const isSecure = scheme === 'https'
  const sent: string[] = []
  const setup = await startSetup({
    site: (name) => ({ redis: redis.url(), ...(isSecure ? { siteUrl: `https://${name}.localhost` } : {}) }),
    build: recorded(isSecure ? behindTls : pages, sent),
  })
  const cookieName = isSecure ? '__Host-sso2.sid' : 'sso2.sid'
  await tellStory(setup)
  const browser = await visitor(setup)
  await logInAtLast(browser, setup.morning, ada)
  return { setup, cookieName, lines: sent.map(parseSetCookie), browser, value: present(browser.cookie(cookieName)) }
}

/** Everything that sets or drops a cookie. */
async function tellStory({ browser: open, morning, evening, emulator }: Setup): Promise<void> {
  const at = (path: string) => `${morning.url}${path}`
  const browser = open()
  for (const path of ['/', '/keep', '/account']) await browser.visit(at(path))
  await logIn(browser, morning, { username: 'ada', password: 'wrong' })
  await logInAtLast(browser, morning, ada)
  for (const path of ['/keep', '/account', '/sensitive']) await browser.visit(at(path))
  emulator.clock.advance(361)
  await browser.visit(at('/'))
  await browser.submit(at('/logout-all'), { return_to: '/' })
  await logInAtLast(browser, morning, ada)
  emulator.faults.add({ operation: 'logout', kind: 'down' })
  await browser.submit(at('/logout'), { return_to: '/' })
  emulator.faults.clear()
  await browser.visit(at('/login'))
  const other = open()
  await other.visit(`${evening.url}/`)
  await logInAtLast(other, evening, ada)
  await other.visit(at('/'))
  emulator.faults.add({ operation: 'identify', kind: 'expired' })
  await open().visit(at('/'))
  emulator.faults.clear()
  await open({ cookies: false }).visit(at('/'))
}

describe.each(schemes)('over %s', (scheme) => {
  const isSecure = scheme === 'https'

  test('[S1] the story has come by every kind of cookie, set and dropped', () => {
    const { lines, cookieName } = storyOf(scheme)
    const stem = cookieName.replace(/sid$/, '')
    const names = new Set(lines.map(({ name }) => name))
    expect([...names].sort()).toEqual(['b', 'd', 'l', 'o', 'sid'].map((end) => stem + end).sort())
    expect(lines.some(isExpiry)).toBe(true)
    expect(lines.length).toBeGreaterThan(20)
  })

  test('[S1] every Set-Cookie is HttpOnly, SameSite=Lax, for all paths of one host, and Secure over https', () => {
    for (const { name, attributes } of storyOf(scheme).lines) {
      expect(Object.keys(attributes)).not.toContain('domain')
      expect({ ...attributes, name, samesite: attributes['samesite']?.toLowerCase() }).toMatchObject({
        path: '/',
        httponly: '',
        samesite: 'lax',
      })
      expect('secure' in attributes).toBe(isSecure)
      expect(name.startsWith('__Host-')).toBe(isSecure)
    }
  })

  test('[S1, S3] the session cookie holds a signed ID of 256 random bits and nothing else', () => {
    const { lines, cookieName } = storyOf(scheme)
    const values = lines.filter((line) => line.name === cookieName && !isExpiry(line)).map(({ value }) => value)
    for (const value of values) expect(decodeURIComponent(value)).toMatch(/^s:[\w-]{43}\.[A-Za-z0-9+/]{43}$/)
    expect(new Set(values).size).toBe(values.length)
    expect(values.length).toBeGreaterThan(5)
  })

  test.each(ours)('[S2] our cookie is read: $what', async (item) => {
    expect(JSON.parse((await ask(scheme, item)).body)).toMatchObject({ status: 'loggedin', username: 'ada' })
  })

  test.each([...notOurs, ...doubled])('[S2] no session is found in a Cookie header: $what', async (item) => {
    const { setup, browser, cookieName } = storyOf(scheme)
    const answer = await ask(scheme, item)
    expect(JSON.parse(answer.body)).toMatchObject({ status: 'none' })
    const set = answer.setCookie.map(parseSetCookie)
    expect(set.filter((line) => !isExpiry(line))).toEqual([])
    const expired = set.filter(({ name }) => name === cookieName).map(({ attributes }) => attributes['path'])
    if (doubled.includes(item)) expect(expired).toContain('/')
    expect(view(await browser.visit(`${setup.morning.url}/`)).status).toBe('loggedin')
  })
})

/** A script's request with a raw Cookie header: no redirect hides what was read. */
function ask(scheme: string, { lines }: CookieCase) {
  const { setup, cookieName, value } = storyOf(scheme)
  const other = cookieName.startsWith('__Host-') ? cookieName.slice(7) : `__Host-${cookieName}`
  const fill = (line: string) =>
    line
      .replaceAll('NAME_IN_CAPITALS', cookieName.toUpperCase())
      .replaceAll('NAME_OTHER_SCHEME', other)
      .replaceAll('NAME', cookieName)
      .replaceAll('VALUE', value)
  return rawGet(setup.morning.url, '/', ['Sec-Fetch-Dest: empty', ...lines.map(fill)])
}

const goodId = randomBytes(32).toString('base64url')

test.each([
  ['no signature', goodId],
  ["a signature by another's secret", signedId(goodId, 'another-secret-of-more-than-32-bytes')],
  ['a signature of another ID', signedId(goodId).replace(goodId, randomBytes(32).toString('base64url'))],
  ['a key of the store that is signed', signedId('morning:sess:{*}')],
])('[S3] a session cookie with %s sends nothing to Redis', async (_what, value) => {
  const { setup, cookieName } = storyOf('http')
  await redis.commands().config('RESETSTAT')
  for (const headers of [['Sec-Fetch-Dest: empty'], ['Sec-Fetch-Dest: document', 'Accept: text/html']]) {
    const answer = await rawGet(setup.morning.url, '/', [...headers, `Cookie: ${cookieName}=${value}`], 'utf8')
    expect([200, 302]).toContain(answer.status)
    expect(answer.setCookie.some((line) => line.startsWith(cookieName))).toBe(false)
  }
  expect(await commands()).toEqual([])
})

test('[S3] a request with a good session cookie is seen in the same count', async () => {
  storyOf('http').setup.emulator.clock.advance(61) // the session could be renewed again
  await redis.commands().config('RESETSTAT')
  const { status, body } = await ask('http', { what: 'ours', lines: ['Cookie: NAME=VALUE'] })
  expect({ status, ...JSON.parse(body) }).toMatchObject({ status: 'loggedin' })
  expect(await commands()).toEqual(['mget'])
})

/** What was sent to Redis, apart from the sites' own look at pending logouts, which comes by itself. */
async function commands(): Promise<string[]> {
  const stats = await redis.commands().info('commandstats')
  const names = [...stats.matchAll(/cmdstat_([^:]+):calls=/g)].map(([, name = '']) => name)
  return names.filter((name) => !['info', 'config|resetstat', 'client|setinfo', 'zrangebyscore'].includes(name))
}

test('[S2, S19] behind cookie-parser one cookie is read, and neither two of them nor one whose name has a no-break space', async () => {
  const build = (sso: Sso2, gates: Gates) => addPages(express().use(cookieParser(sessionSecret), sso), sso, gates)
  const setup = await startSite({ build })
  const mine = (await loggedInBrowserAt(setup)).cookie('sso2.sid')
  const theirs = (await loggedInBrowserAt(setup, grace)).cookie('sso2.sid')
  const pageFor = async (header: string) => {
    const answer = await rawGet(setup.url, '/page', [`Cookie: ${header}`, 'Accept: application/json'], 'latin1')
    const { status, username } = JSON.parse(answer.body)
    return { answer, seen: [status, username] }
  }
  expect((await pageFor(`a=1; sso2.sid=${mine}`)).seen).toEqual(['loggedin', 'ada'])
  for (const header of [`sso2.sid=${theirs}; sso2.sid=${mine}`, `sso2.sid=${mine}; sso2.sid=`]) {
    const { answer, seen } = await pageFor(header)
    expect(seen).toEqual(['none', undefined])
    const lines = answer.setCookie.map(parseSetCookie).filter(({ name }) => name === 'sso2.sid')
    expect(lines.map(isExpiry)).toEqual([true])
    const logout = { json: {}, headers: { cookie: header } }
    expect((await setup.browser().fetchJson(`${setup.url}/logout`, logout)).json.logout).toBe('pending')
  }
  for (const name of ['\u00a0sso2.sid', 'sso2.sid\u00a0'])
    expect((await pageFor(`${name}=${mine}`)).seen).toEqual(['none', undefined])
  await setup.close()
})
