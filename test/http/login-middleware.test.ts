import { arrayBuffer } from 'node:stream/consumers'
import cookieParser from 'cookie-parser'
import express, { type Express, type RequestHandler } from 'express'
import type { Sso2 } from '../../lib'
import { loggerTo } from '../support/log-lines'
import { ada, addPages, type Gates, logIn, view } from '../support/setup'
import { loggedInBrowserAt, type RunningSite, startSite } from '../support/site'

/* Middleware of a site beside ours: parsers in front of `sso` that read the body, and guards against CSRF, whose token our forms do not have. */

const formidable: () => RequestHandler = require('express-formidable')

let setup: RunningSite
let lines: string[]
const start = async (...before: RequestHandler[]) => {
  lines = []
  const build = (sso: Sso2, gates: Gates): Express => addPages(express().use(...before, sso), sso, gates)
  setup = await startSite({ build, options: { logger: loggerTo(lines) } })
}
afterEach(() => setup.close())

const post = (body: object) => setup.browser().fetchJson(`${setup.url}/login`, { json: body })

test('express-formidable: a login is answered 500, and one line names the cause; a script and a form alike', async () => {
  await start(formidable())
  const browser = setup.browser()
  expect((await post(ada)).json).toEqual({ error: 'bad_request' })
  const { status } = await browser.submit(`${setup.url}/login`, ada)
  expect(status).toBe(500)
  const told = lines.filter((line) => /A form could not be read/.test(line))
  expect(told).toHaveLength(1)
  expect(setup.countCalls('authenticate')).toBe(0)
  expect(lines.join()).not.toContain(ada.password)
})

const leaveBytes: RequestHandler = async (req, _res, next) => {
  req.body = new Uint8Array(await arrayBuffer(req))
  next()
}
test.each<[string, RequestHandler]>([
  ['express.json', express.json()],
  ['express.urlencoded, which leaves JSON alone', express.urlencoded()],
  ['express.raw', express.raw({ type: () => true })],
  ['a parser that leaves a Uint8Array', leaveBytes],
])(
  '%s in front is no such fault: form and JSON log in, and a script without a body logs out',
  async (_name, parser) => {
    await start(parser)
    expect((await post({})).json).toEqual({ error: 'invalid_request' })
    expect((await post([1])).status).toBe(400)
    expect(view(await logIn(setup.browser(), setup, ada))).toMatchObject({ status: 'loggedin', username: 'ada' })
    const browser = setup.browser()
    await browser.visit(`${setup.url}/`)
    expect((await browser.fetchJson(`${setup.url}/login`, { json: ada })).status).toBe(200)
    const empty = { method: 'POST', headers: { 'content-type': 'application/json' } }
    expect((await browser.fetchJson(`${setup.url}/logout`, empty)).json).toMatchObject({ logout: 'confirmed' })
    expect(lines).toEqual([])
  },
)

const csurf = require('csurf') as () => RequestHandler

test('after sso, csurf leaves our forms alone and protects those of the site', async () => {
  const build = (sso: Sso2) => {
    const app = express().use(cookieParser()).use(sso).use(express.urlencoded()).use(csurf())
    app.get('/', (req, res) => void res.json({ status: req.sso2.status, user: req.sso2.user?.accountId }))
    return app.post('/comment', (_req, res) => void res.json({ saved: true }))
  }
  setup = await startSite({ build })
  const browser = await loggedInBrowserAt(setup)
  const shown = async () => JSON.parse((await browser.visit(`${setup.url}/`)).body) as unknown
  expect(await shown()).toEqual({ status: 'loggedin', user: 'account-ada' })
  expect((await browser.submit(`${setup.url}/comment`, { text: 'hello' })).status).toBe(403)
  setup.emulator.clock.advance(2)
  expect((await browser.submit(`${setup.url}/logout`, { return_to: '/' })).status).toBe(200)
  expect(await shown()).toEqual({ status: 'anon' })
  setup.emulator.clock.advance(2)
  await logIn(browser, setup, ada)
  expect((await browser.submit(`${setup.url}/logout-all`, { return_to: '/' })).status).toBe(200)
  expect(await shown()).toEqual({ status: 'anon' })
})
