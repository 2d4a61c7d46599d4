import express, { type Express, type RequestHandler } from 'express'
import type { Sso2 } from '../../lib'
import { loggerTo } from '../support/log-lines'
import { ada, addPages, type Gates, logIn, view } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'

/* A middleware in front of `sso` reads the body. What it leaves in `req.body` is read as a form, or as JSON. */

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
  const told = lines.filter((line) => /another middleware has consumed its body/.test(line))
  expect(told).toHaveLength(1)
  expect(setup.countCalls('authenticate')).toBe(0)
  expect(lines.join()).not.toContain(ada.password)
})

test.each([
  ['express.json', express.json()],
  ['express.urlencoded, which leaves JSON alone', express.urlencoded()],
  ['express.raw', express.raw({ type: () => true })],
])('%s in front is no such fault: form and JSON log in', async (_name, parser) => {
  await start(parser)
  expect((await post({})).json).toEqual({ error: 'invalid_request' })
  expect(view(await logIn(setup.browser(), setup, ada))).toMatchObject({ status: 'loggedin', username: 'ada' })
  const browser = setup.browser()
  await browser.visit(`${setup.url}/`)
  expect((await browser.fetchJson(`${setup.url}/login`, { json: ada })).status).toBe(200)
  expect(lines).toEqual([])
})
