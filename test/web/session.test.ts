import { createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import express from 'express'
import type { Kv } from '../../lib/storage/kv'
import { MemoryKv } from '../../lib/storage/memory-kv'
import { openRedis } from '../../lib/storage/redis-connection'
import { redisKv } from '../../lib/storage/redis-kv'
import { sessionKey } from '../../lib/storage/site-store'
import type { Browser } from '../support/agent'
import { sessionSecret as secret } from '../support/configuration'
import {
  bag,
  check,
  configOf,
  cookieName,
  cookiesOf,
  dataOf,
  establish,
  oldSecret,
  type SessionSite,
  startSite,
} from './session-site'

const express4: typeof express = createRequire(__filename)('express4')

const memory = () => new MemoryKv(Date.now)
const redis = () => redisKv(openRedis(String(process.env['TEST_REDIS_URL'])), true)
const kinds: [store: string, version: string, open: () => Kv, framework: typeof express][] = [
  ['memory', 'Express 5', memory, express],
  ['memory', 'Express 4', memory, express4],
  ['Redis', 'Express 5', redis, express],
  ['Redis', 'Express 4', redis, express4],
]

const signed = (id: string, by: string) =>
  encodeURIComponent(`s:${id}.${createHmac('sha256', by).update(id).digest('base64').replace(/=+$/, '')}`)

describe.each(kinds)('sessions in %s, under %s', (_store, _version, open, framework) => {
  let kv: Kv
  let site: SessionSite
  let browser: Browser
  const ask = (path: string, from = browser, headers: Record<string, string> = {}) =>
    from.fetchJson(`${site.url}${path}`, { headers })

  beforeAll(async () => {
    kv = open()
    site = await startSite({ kv, framework })
    addScenes(site)
  })
  beforeEach(() => {
    browser = site.browser()
    site.commands.length = 0
  })
  afterAll(async () => {
    await site.close()
    await kv.close()
  })

  test('a request without our cookie costs no command and gets no cookie, touched or not', async () => {
    for (const path of ['/untouched', '/read']) expect(cookiesOf(await ask(path))).toEqual([])
    expect(site.commands).toEqual([])
  })

  test('a new user whose page writes gets a session with one private cookie, which is not sent again', async () => {
    const first = await ask('/put/a/1')
    expect(cookiesOf(first)).toHaveLength(1)
    expect(cookiesOf(first)[0]).toMatch(
      /^sso2\.sid=s%3A[\w-]{43}\.[\w%]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Lax$/,
    )
    expect(first.headers['cache-control']).toBe('private, no-store')
    const second = await ask('/put/b/2')
    expect(second.json).toEqual({ a: '1', b: '2' })
    expect({ set: cookiesOf(second), cache: second.headers['cache-control'] }).toEqual({ set: [], cache: undefined })
    expect((await ask('/read')).json).toEqual({ a: '1', b: '2' })
  })

  test('a page that does not touch the session reads data and record at once, and does not patch the answer', async () => {
    await ask('/put/a/1')
    site.commands.length = 0
    expect((await ask('/patched')).json).toEqual({ end: false, writeHead: false })
    expect(site.commands.filter((command) => command !== 'expire')).toEqual(['mget'])
  })

  test('an unchanged session is not written, and its expiry is renewed once a minute', async () => {
    await ask('/put/a/1')
    await ask('/read')
    site.commands.length = 0
    await ask('/read')
    expect(site.commands).toEqual(['mget'])
    site.clock.now += 61
    await ask('/read')
    expect(site.commands).toEqual(['mget', 'mget', 'expire', 'expire'])
  })

  test('a session with a record is renewed when it is checked, and when a tenth of its life has gone: no command besides', async () => {
    site.page('/checked', async (req, res) => {
      await check(site, req)
      res.json({})
    })
    await ask('/put/a/1')
    await ask('/log-in')
    site.commands.length = 0
    for (const age of [1, 61, 38]) {
      await ask('/read')
      expect(site.commands).toEqual(['mget'])
      site.commands.length = 0
      site.clock.now += age
    }
    await ask('/read')
    expect(site.commands).toEqual(['mget', 'expire', 'expire', 'renewEntry', 'renewEntry'])
    site.commands.length = 0
    for (let times = 0; times < 2; times += 1) await ask('/checked')
    expect(site.commands).toEqual(['mget', 'compareAndSet', 'mget', 'compareAndSet'])
  })

  test('a login renews the ID, keeps the data, and what the handler changed goes over it', async () => {
    await ask('/put/a/1')
    const before = site.idOf(browser)
    const answer = await ask('/log-in?put=b')
    expect(cookiesOf(answer)).toHaveLength(1)
    expect(site.idOf(browser)).not.toBe(before)
    expect((await ask('/read')).json).toEqual({ a: '1', b: 'put' })
    expect((await ask('/state')).json).toMatchObject({ state: 'live' })
  })

  test('what another request put into the session meanwhile goes along, and only changes of this one are laid over it', async () => {
    for (const path of ['/put/a/1', '/put/b/1', '/put/c/1']) await ask(path)
    const key = sessionKey(site.idOf(browser))
    const since = site.clock.now
    const other = JSON.stringify({ cookie: { since }, a: 'other', b: 'other', c: '1', d: 'other' })
    expect((await ask(`/log-in-while?text=${encodeURIComponent(other)}&key=${key}`)).status).toBe(200)
    expect((await ask('/read')).json).toEqual({ a: 'other', b: 'mine', d: 'other' })
  })

  test('data that is not to be kept does not come along', async () => {
    await ask('/put/a/1')
    await ask('/log-in?drop=1')
    expect((await ask('/read')).json).toEqual({})
  })

  test('data of a login whose record is gone is shown to no user', async () => {
    await ask('/log-in')
    await ask('/put/a/1')
    const id = site.idOf(browser)
    await kv.del(keyNames(site, id)[1] ?? '')
    expect((await ask('/read')).json).toEqual({})
    await ask('/log-in')
    expect((await ask('/read')).json).toEqual({})
    expect(site.idOf(browser)).not.toBe(id)
  })

  test('a request that comes a moment after its session moved is served empty, saves nothing and gets no cookie', async () => {
    await ask('/put/a/1')
    const old = site.cookieOf(browser)
    await ask('/log-in')
    const stale = site.browser()
    const late = await ask('/put/b/2', stale, old)
    expect({ json: late.json, set: cookiesOf(late) }).toEqual({ json: { b: '2' }, set: [] })
    expect((await ask('/read', stale, old)).json).toEqual({})
    site.clock.now += 61
    expect(cookiesOf(await ask('/put/b/2', stale, old))).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test('a login while a slow page writes: the slow page neither brings the old session back nor sets a cookie', async () => {
    site.page('/slow', async (req, res) => {
      bag(req)['slow'] = 1
      await ask('/log-in')
      res.json({})
    })
    await ask('/put/a/1')
    expect(cookiesOf(await ask('/slow'))).toEqual([])
    expect((await ask('/read')).json).toEqual({ a: '1' })
    expect((await ask('/state')).json).toMatchObject({ state: 'live' })
  })

  test('the end of a session drops the cookie, unless the page puts something into the next one', async () => {
    await ask('/log-in')
    await ask('/put/a/1')
    const [line] = cookiesOf(await ask('/end'))
    expect(line).toMatch(/^sso2\.sid=; Path=\/; Expires=Thu, 01 Jan 1970/)
    await ask('/log-in')
    const filled = await ask('/end?put=b')
    expect(cookiesOf(filled)).toHaveLength(1)
    expect((await ask('/read')).json).toEqual({ b: 'put' })
    expect((await ask('/state')).json).toMatchObject({ state: 'none' })
  })

  test('an adopted session is read, its cookie set, and it is not saved over unless the page changes something', async () => {
    await ask('/put/a/1')
    await ask('/log-in')
    const id = site.idOf(browser)
    for (const path of [`/adopt/${id}?show=1`, `/adopt/${id}?touch=1&show=1`]) {
      const other = site.browser()
      await ask('/put/x/1', other)
      site.commands.length = 0
      const answer = await ask(path, other)
      expect({ json: answer.json, id: site.idOf(other) }).toEqual({ json: { a: '1' }, id })
      expect(site.commands).not.toContain('setUnlessMarker')
    }
    await ask(`/adopt/${id}?touch=1&put=b`, site.browser())
    expect((await ask('/read')).json).toEqual({ a: '1', b: 'put' })
  })

  test.each([
    ['a new user', false],
    ['a user', true],
  ])(
    'regenerate gives %s a new, empty session that can be filled with a copy of the old one, its cookie too',
    async (_who, isReader) => {
      if (isReader) await ask('/log-in')
      await ask('/put/a/1')
      const before = site.idOf(browser)
      const answer = await ask('/regenerate')
      expect(answer.json).toEqual({ empty: {} })
      expect(cookiesOf(answer)).toHaveLength(1)
      expect(answer.headers['cache-control']).toBe('private, no-store')
      expect(site.idOf(browser)).not.toBe(before)
      expect((await ask('/read')).json).toEqual({ a: '1' })
      expect((await ask('/state')).json).toMatchObject({ state: isReader ? 'live' : 'none' })
      expect(await kv.mget(keyNames(site, before))).toEqual([null, expect.stringMatching(/^moved\./)])
    },
  )

  test('who destroys a session that has moved on destroys nothing, and it is still known where it went', async () => {
    site.page('/slow-destroy', async (req, res) => {
      const { session } = req
      await ask('/log-in')
      session.destroy(() => res.json({}))
    })
    await ask('/put/a/1')
    const old = site.idOf(browser)
    expect(cookiesOf(await ask('/slow-destroy'))).toEqual([])
    const stored = await site.records.read(sessionKey(old))
    expect(stored !== 'unavailable' && site.records.successorOf(stored)).toBe(site.idOf(browser))
    expect((await ask('/read')).json).toEqual({ a: '1' })
  })

  test('a session that becomes empty is not stored', async () => {
    await ask('/put/a/1')
    const keys = keyNames(site, site.idOf(browser))
    await ask('/clear')
    expect(await kv.mget(keys)).toEqual([null, null])
  })

  test('the first cookie lives as long as the page says, at most as long as the session, and a live one is never sent again', async () => {
    /** In how many seconds the cookie ends that a page sets. */
    const lifeBy = async (path: string) => {
      const [line = ''] = cookiesOf(await ask(path))
      return Date.parse(/Expires=([^;]+)/.exec(line)?.[1] ?? '') / 1000 - site.clock.now
    }
    expect(Math.abs((await lifeBy('/max-age?seconds=300')) - 300)).toBeLessThan(5)
    expect(Math.round((await ask('/cookie')).json.originalMaxAge / 1000)).toBe(300)
    const again = await ask('/max-age?seconds=600&cache=public')
    expect({ set: cookiesOf(again), cache: again.headers['cache-control'] }).toEqual({ set: [], cache: 'public' })
    browser = site.browser()
    expect(Math.abs((await lifeBy('/max-age?seconds=99999999')) - 10_000)).toBeLessThan(5)
  })

  test.each([
    ['no-transform', 'no-transform, private, no-store'],
    ['public, max-age=60, no-transform', 'no-transform, private, no-store'],
    ['max-age=60, NO-TRANSFORM', 'no-transform, private, no-store'],
    ['public, max-age=60', 'private, no-store'],
    ['private, no-transform', 'private, no-transform'],
    ['no-store, no-transform', 'no-store, no-transform'],
    ['private, max-age=0', 'private, max-age=0'],
  ])('[R10, S19] a page that says "%s" of caches and begins a session says "%s"', async (said, expected) => {
    const { headers } = await ask(`/max-age?seconds=300&cache=${encodeURIComponent(said)}`)
    expect((headers['set-cookie'] ?? []).map((line) => line.split('=')[0])).toEqual([cookieName])
    expect(headers['cache-control']).toBe(expected)
  })

  test('the cookie is for https alone where the site has https', async () => {
    const secure = await startSite({ kv, framework, config: configOf({ siteUrl: 'https://site.example' }) })
    const { headers } = await site.browser().fetchJson(`${secure.url}/put/a/1`)
    expect(headers['set-cookie']).toEqual([expect.stringMatching(/; Secure/)])
    expect(cookiesOf(await ask('/put/a/1'))).toEqual([expect.not.stringMatching(/Secure/)])
    await secure.close()
  })

  test('all secrets verify, and the first signs', async () => {
    await ask('/put/a/1')
    const id = site.idOf(browser)
    expect(browser.cookie(cookieName)).toBe(signed(id, secret))
    const rotated = { cookie: `${cookieName}=${signed(id, oldSecret)}` }
    const { json } = await ask('/unreadable', site.browser(), rotated)
    expect(json).toMatchObject({ isUnreadable: false, data: { a: '1' } })
  })

  test.each([
    ['by a secret that is not ours', (id: string) => `${cookieName}=${signed(id, 'x'.repeat(32))}`, true],
    ['twice', (id: string) => `${cookieName}=${signed(id, secret)}; ${cookieName}=${signed(id, secret)}`, true],
    ['unsigned', (id: string) => `${cookieName}=${id}`, false],
    ['with more before it', (id: string) => `${cookieName}=x${signed(id, secret)}`, false],
    ['with more after it', (id: string) => `${cookieName}=${signed(id, secret)}x`, false],
    ['that cannot be decoded', () => `${cookieName}=%zz`, false],
    ['with an odd space before its name', (id: string) => `\u00a0${cookieName}=${signed(id, secret)}`, false],
  ])('a cookie %s is not read, and costs no command', async (_how, header, isUnreadable) => {
    await ask('/put/a/1')
    const cookie = Buffer.from(header(site.idOf(browser))).toString('latin1')
    site.commands.length = 0
    const { json } = await ask('/unreadable', site.browser(), { cookie })
    expect(json).toEqual({ isUnreadable, data: {}, header: cookie })
    expect(site.commands).toEqual([])
  })

  test.each(['garbage', '{"cookie":{"since":17', 'null', '[1]', '{"cookie":null,"a":1}', '{"a":1}'])(
    'stored data %s is an empty session under a new ID',
    async (text) => {
      await ask('/put/a/1')
      const id = site.idOf(browser)
      await site.records.saveData(sessionKey(id), text, 100)
      expect((await ask('/read')).json).toEqual({})
      expect((await ask('/put/b/2')).json).toEqual({ b: '2' })
      expect(site.idOf(browser)).not.toBe(id)
      expect((await ask('/read')).json).toEqual({ b: '2' })
    },
  )

  test('data beyond the absolute limit is none', async () => {
    await ask('/put/a/1')
    site.clock.now += 10_001
    const header = { cookie: `${cookieName}=${signed(site.idOf(browser), secret)}` }
    expect((await ask('/read', browser, header)).json).toEqual({})
  })
})

/** Names of a session's data and record. */
const keyNames = ({ prefix }: SessionSite, id: string) =>
  ['sess', 'sso2'].map((kind) => `${prefix}${kind}:{${sessionKey(id)}}`)

function addScenes(site: SessionSite): void {
  const { page } = site
  page('/patched', (_req, res) =>
    res.json({ end: Object.hasOwn(res, 'end'), writeHead: Object.hasOwn(res, 'writeHead') }),
  )
  page('/unreadable', async (req, res) => {
    const { isUnreadable } = await site.sessions.stateOf(req)
    res.json({ isUnreadable, data: dataOf(req), header: req.headers.cookie })
  })
  page('/log-in-while', async (req, res) => {
    bag(req)['b'] = 'mine'
    delete bag(req)['c']
    await site.records.saveData(String(req.query['key']), String(req.query['text']), 100)
    res.json({ id: await establish(site, req, 'loggedin') })
  })
  page('/regenerate', (req, res) => {
    const old = req.session
    req.session.regenerate((error) => {
      const empty = dataOf(req)
      Object.assign(req.session, old)
      res.status(error ? 500 : 200).json({ empty })
    })
  })
  page('/clear', (req, res) => {
    delete bag(req)['a']
    res.json({})
  })
  page('/max-age', (req, res) => {
    bag(req)['a'] = String(Math.random())
    req.session.cookie.maxAge = Number(req.query['seconds']) * 1000
    const { cache } = req.query
    if (cache) res.set('Cache-Control', String(cache))
    res.end()
  })
  page('/cookie', (req, res) => res.json(req.session.cookie))
}
