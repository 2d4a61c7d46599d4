import type http from 'node:http'
import { text } from 'node:stream/consumers'
import type { Express } from 'express'
import serverless from 'serverless-http'
import { expresses } from '../support/addresses'
import { ada, addPages, logIn, view } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'

interface Result {
  readonly statusCode: number
  readonly headers: Record<string, string>
  readonly cookies: string[]
  readonly body: string
}

/** What stands before a function: each request becomes an event of version 2, and each result an answer. */
const gateway =
  (app: Express): http.RequestListener =>
  async (req, res) => {
    const { pathname, search } = new URL(req.url ?? '/', 'http://gateway')
    const { cookie, ...headers } = req.headers
    const event = {
      version: '2.0',
      rawPath: pathname,
      rawQueryString: search.slice(1),
      cookies: cookie?.split('; ') ?? [],
      headers,
      requestContext: { http: { method: req.method, path: pathname, sourceIp: '127.0.0.1' } },
      body: Buffer.from(await text(req)).toString('base64'),
      isBase64Encoded: true,
    }
    const result = (await serverless(app)(event, {})) as Result
    res.statusCode = result.statusCode
    for (const [name, value] of Object.entries(result.headers)) res.setHeader(name, value)
    if (result.cookies.length > 0) res.setHeader('set-cookie', result.cookies)
    res.end(result.body)
  }

describe.each(expresses)('a site on %s behind serverless-http', (_name, express) => {
  let setup: RunningSite
  beforeAll(async () => {
    setup = await startSite({ build: (sso, gates) => gateway(addPages(express().use(sso), sso, gates)) })
  })
  afterAll(() => setup.close())

  test('logs in by the form', async () => {
    const browser = setup.browser()
    expect(view(await logIn(browser, setup, ada, '/page?a=%20b'))).toMatchObject({
      status: 'loggedin',
      username: 'ada',
      url: '/page?a=%20b',
    })
    expect(view(await browser.visit(`${setup.url}/account`))).toMatchObject({ username: 'ada' })
    expect(view(await browser.submit(`${setup.url}/logout`, { return_to: '/' })).status).toBe('anon')
  })
})
