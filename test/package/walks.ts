import assert from 'node:assert/strict'
import { Browser, type VisitedPage } from '../support/agent'

/** Where an example is: `http://localhost:3000`, or the name of a paper in front of `localhost`. */
export type At = (path: string, paper?: 'morning' | 'evening') => string

const ada = { username: 'ada', password: 'correct-horse' }
const grace = { username: 'grace', password: 'battery-staple' }

const json = ({ body }: VisitedPage) => JSON.parse(body)
const pathsOf = ({ trail }: VisitedPage) => trail.map(({ url }) => new URL(url).pathname)

/** Opens a page that needs a login, fills in the form that comes instead, and gives the page. */
async function logIn(browser: Browser, page: string, account = ada): Promise<VisitedPage> {
  const form = await browser.visit(page)
  const { origin, pathname } = new URL(form.url)
  assert.deepEqual([form.status, pathname, origin], [200, '/login', new URL(page).origin])
  return browser.submit(form.url, { ...account, return_to: new URL(page).pathname }, { from: form.url })
}

async function minimal(at: At): Promise<void> {
  const browser = new Browser()
  const front = await browser.visit(at('/'))
  assert.deepEqual(pathsOf(front), ['/', '/sso/identify', '/sso2/landing', '/'])
  assert.match(front.body, /Log in/)
  assert.equal((await logIn(browser, at('/account'), { ...ada, password: 'not-it' })).status, 401)
  const account = await logIn(browser, at('/account'))
  assert.deepEqual([account.url, json(account).username], [at('/account'), 'ada'])
  assert.match((await browser.visit(at('/'))).body, /Your account/)
  assert.match((await browser.submit(at('/logout'), {})).body, /Log in/)
  assert.equal((await browser.fetchJson(at('/account'))).status, 401)
}

async function ownForm(at: At): Promise<void> {
  const browser = new Browser()
  assert.match((await browser.visit(at('/'))).body, /<form id="login">/)
  assert.deepEqual((await browser.fetchJson(at('/api/reader'))).json, {})
  const refused = await browser.fetchJson(at('/api/news'))
  assert.deepEqual([refused.status, new URL(refused.json.loginUrl, at('/')).pathname], [401, '/login'])
  const wrong = await browser.fetchJson(at('/login'), { json: { ...ada, password: 'not-it' } })
  assert.deepEqual([wrong.status, wrong.json], [401, { error: 'invalid_credentials', remainingAttempts: 2 }])
  const right = await browser.fetchJson(at('/login'), { json: ada })
  assert.deepEqual([right.status, right.json.user.username], [200, 'ada'])
  assert.equal((await browser.fetchJson(at('/api/reader'))).json.name, right.json.user.name)
  assert.equal((await browser.fetchJson(at('/api/news'))).json.news.length, 1)
}

async function ownSession(at: At): Promise<void> {
  const browser = new Browser()
  await browser.visit(at('/'))
  const filled = await browser.submit(at('/basket'), { paper: 'weekend' })
  assert.match(filled.body, /In the basket: weekend/)
  const checkout = await logIn(browser, at('/checkout'))
  assert.deepEqual(json(checkout), { account: 'account-ada', basket: ['weekend'] })
  assert.deepEqual([browser.cookie('session') !== undefined, browser.cookie('sso2.sid')], [true, undefined])
  assert.match((await browser.submit(at('/logout'), {})).body, /In the basket: nothing/)
  assert.deepEqual(json(await logIn(browser, at('/checkout'), grace)), { account: 'account-grace', basket: [] })
}

async function twoPapers(at: At): Promise<void> {
  const browser = new Browser()
  assert.match((await browser.visit(at('/', 'evening'))).body, /<h1>Evening Star/)
  const morning = await logIn(browser, at('/account', 'morning'))
  assert.deepEqual([json(morning).paper, json(morning).reader.username], ['Morning Post', 'ada'])
  const other = new Browser()
  await logIn(other, at('/account', 'morning'))
  const evening = await other.visit(at('/account', 'evening'))
  assert.deepEqual([json(evening).paper, json(evening).reader.username], ['Evening Star', 'ada'])
  assert.ok(!pathsOf(evening).includes('/login'))
  assert.equal((await new Browser().visit(at('/'))).status, 404)
}

const ANON_PAGE = 'public, max-age=60, s-maxage=300'

async function onDemandCdn(at: At): Promise<void> {
  const browser = new Browser()
  const caching = (visit: VisitedPage) => [
    visit.trail.length,
    visit.headers['cache-control'],
    visit.headers['set-cookie'],
  ]
  const front = await browser.visit(at('/'))
  assert.deepEqual(caching(front), [1, ANON_PAGE, undefined])
  const unknown = await browser.fetchJson(at('/reader.json'))
  assert.deepEqual([unknown.json, unknown.headers['set-cookie']], [{}, undefined])
  const forYou = await browser.visit(at('/for-you'))
  assert.deepEqual(
    [forYou.trail.length, json(forYou), caching(forYou)[1]],
    [4, { status: 'anon' }, 'private, no-store'],
  )
  const account = await logIn(browser, at('/account'))
  assert.equal(account.headers['cache-control'], 'private, no-store')
  const again = await browser.visit(at('/'))
  assert.deepEqual([...caching(again), again.body], [1, ANON_PAGE, undefined, front.body])
  const known = await browser.fetchJson(at('/reader.json'))
  assert.deepEqual([known.json.name, known.headers['cache-control']], [json(account).name, 'private, no-store'])
  assert.deepEqual(json(await browser.visit(at('/for-you'))), { status: 'loggedin', name: json(account).name })
}

/** What a reader does at each example. */
export const walks: Readonly<Record<string, (at: At) => Promise<void>>> = {
  minimal,
  'custom-form': ownForm,
  'existing-session': ownSession,
  'two-sites': twoPapers,
  'on-demand-cdn': onDemandCdn,
  nestjs: minimal, // the same two pages
}
