import http, { type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Browser } from './agent'
import { isSignedWith, readJwt, signJwt } from './oracle'

const servers: Server[] = []

/** A server on a free port that answers with what the listener says; gives its address on localhost. */
async function serve(listener: RequestListener): Promise<string> {
  const server = http.createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

afterAll(() => {
  for (const server of servers) server.close()
})

test('the oracle signs the well-known example token of jwt.io', () => {
  const claims = { sub: '1234567890', name: 'John Doe', iat: 1516239022 }
  const token = signJwt(claims, 'your-256-bit-secret')
  expect(token).toBe(
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c',
  )
  expect(readJwt(token)).toMatchObject({ header: { alg: 'HS256', typ: 'JWT' }, claims })
  expect(isSignedWith(token, 'your-256-bit-secret')).toBe(true)
  expect(isSignedWith(token, 'another')).toBe(false)
})

test('cookies are shared by the ports of one host, and not by two hosts', async () => {
  const seen: (string | undefined)[] = []
  const listener: RequestListener = (req, res) => {
    seen.push(req.headers.cookie)
    res.setHeader('set-cookie', ['a=1; Path=/', '__Host-b=2; Path=/; Secure', '__Host-c=3; Secure; Path=/x']).end('ok')
  }
  const [one, two] = [await serve(listener), await serve(listener)]
  const browser = new Browser()
  await browser.visit(one)
  await browser.visit(two)
  await browser.visit(two.replace('localhost', '127.0.0.1'))
  expect(seen).toEqual([undefined, 'a=1; __Host-b=2', undefined])
})

test('cookies die with their lifetime, by the clock that is given', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const url = await serve((_req, res) => res.setHeader('set-cookie', ['a=1; Max-Age=60', 'b=2']).end('ok'))
  const browser = new Browser({ now: () => now })
  await browser.visit(url)
  now += 60_000
  expect(browser.cookies.map(({ name }) => name)).toEqual(['b'])
  browser.dropCookies()
  expect(browser.cookies).toEqual([])
})

test('a form post follows its 303 as a GET, and says where each hop comes from', async () => {
  const seen: string[] = []
  const listener: RequestListener = (req, res) => {
    const { origin = '-', 'sec-fetch-site': site } = req.headers
    seen.push(`${req.method} ${req.url} ${site} ${origin.replace(/\d+$/, 'port')}`)
    if (req.method === 'POST') res.writeHead(303, { location: `${other}/away` }).end()
    else if (req.url === '/away') res.writeHead(302, { location: `${url}/back` }).end()
    else res.end('done')
  }
  const url = await serve(listener)
  const other = await serve(listener)
  const visit = await new Browser().submit(`${url}/form`, { name: 'Ada' })
  expect(visit).toMatchObject({ status: 200, url: `${url}/back`, body: 'done' })
  expect(visit.trail.map(({ status }) => status)).toEqual([303, 302, 200])
  expect(seen).toEqual([
    'POST /form same-origin http://localhost:port',
    'GET /away same-site -',
    'GET /back same-site -',
  ])
})
