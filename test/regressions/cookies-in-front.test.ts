import cookieParser from 'cookie-parser'
import express, { type RequestHandler } from 'express'
import { isExpiry, parseSetCookie, rawGet, signedId } from '../safety/cookies-raw'
import type { Browser } from '../support/agent'
import { addPages, grace, sessionSecret } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from './support'

const SITE_SECRET = 'a-secret-of-the-site-for-its-own-cookies'

/** How cookie-parser read a header for years: `trim()` takes more off a name than the standard knows. */
const oldCookieParser: RequestHandler = (req, _res, next) => {
  const pairs = (req.headers.cookie ?? '').split(/; */).map((pair) => {
    const mark = pair.indexOf('=')
    return [pair.slice(0, mark).trim(), decodeURIComponent(pair.slice(mark + 1).trim())]
  })
  Object.assign(req, { cookies: Object.fromEntries(pairs.reverse()), signedCookies: Object.create(null) })
  next()
}

describe.each<[string, RequestHandler]>([
  ['cookie-parser', cookieParser()],
  ['cookie-parser with a secret of its own', cookieParser(SITE_SECRET)],
  ["cookie-parser with the session's secret", cookieParser(sessionSecret)],
  ['an old cookie-parser', oldCookieParser],
])('[S2, S19] behind %s', (_name, parser) => {
  let setup: RunningSite
  let browser: Browser
  let mine: string
  let theirs: string
  beforeAll(async () => {
    setup = await startSite({ build: (sso, gates) => addPages(express().use(parser, sso), sso, gates) })
    browser = await loggedInBrowserAt(setup)
    mine = String(browser.cookie('sso2.sid'))
    theirs = String((await loggedInBrowserAt(setup, grace)).cookie('sso2.sid'))
  })
  afterAll(() => setup.close())

  /** What a page says to a cookie header as it is, byte for byte. */
  async function pageFor(header: string) {
    const answer = await rawGet(setup.url, '/page', [`Cookie: ${header}`, 'Accept: application/json'], 'latin1')
    return { answer, status: JSON.parse(answer.body).status, username: JSON.parse(answer.body).username }
  }

  test('one session cookie is read, and the parser does its work', async () => {
    expect(await pageFor(`a=1; sso2.sid=${mine}`)).toMatchObject({ status: 'loggedin', username: 'ada' })
  })

  test.each([
    ['of two users', () => [theirs, mine]],
    ['of two users, the other way', () => [mine, theirs]],
    ['twice the same', () => [mine, mine]],
    ['one of them empty', () => [mine, '']],
  ])('a doubled session cookie (%s) is no cookie, and is dropped', async (_what, values) => {
    const pairs = values().map((value) => `sso2.sid=${value}`)
    const { answer, status, username } = await pageFor(pairs.join('; '))
    expect({ status, username }).toEqual({ status: 'none', username: undefined })
    const lines = answer.setCookie.map(parseSetCookie).filter(({ name }) => name === 'sso2.sid')
    expect(lines.map(isExpiry)).toEqual([true])
  })

  test.each([
    ['a no-break space before it', '\u00a0sso2.sid'],
    ['a no-break space after it', 'sso2.sid\u00a0'],
  ])('a name with %s is not ours', async (_what, name) => {
    const { status, username } = await pageFor(`${name}=${mine}`)
    expect({ status, username }).toEqual({ status: 'none', username: undefined })
  })

  test('a value that the site signed with a secret of its own is no session', async () => {
    const id = decodeURIComponent(mine).slice(2).split('.')[0] ?? ''
    const { status } = await pageFor(`sso2.sid=${signedId(id, SITE_SECRET)}`)
    expect(status).toBe('none')
  })
})
