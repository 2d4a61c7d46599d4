import net from 'node:net'
import express from 'express'
import { addPages, present, redisUrl, view } from '../flows/setup'
import { loggedInBrowserAt, type Process, type RunningSite, startSite } from './support'

/* A logout of a browser without its session cookie: its next landing names the SSO session, and ends it on this site first. Redis is slow. */

/** Far below the deadline of a command, 300 ms, because the machine may be busy too. */
const SLOW_MS = 60

/** A way to Redis on which each command takes its time. */
function slowRedis(): Promise<net.Server> {
  const { hostname, port } = new URL(redisUrl())
  const server = net.createServer((from) => {
    const to = net.connect(Number(port), hostname)
    to.pipe(from)
    from.on('data', (data) => setTimeout(() => to.writable && to.write(data), SLOW_MS))
    for (const one of [from, to]) one.on('error', () => {})
    from.on('close', () => to.destroy())
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

let slow: net.Server
let setup: RunningSite
let quick: Process

beforeAll(async () => {
  slow = await slowRedis()
  const redis = `redis://127.0.0.1:${(slow.address() as net.AddressInfo).port}`
  const build: Parameters<RunningSite['another']>[1] = (sso, gates) => {
    const app = express().get('/end', (_req, res) => void res.json({ status: 'none', url: '/end' }))
    return addPages(app.use(sso), sso, gates)
  }
  setup = await startSite({ options: { redis }, build })
  quick = await setup.another({ redis: redisUrl() })
})
afterAll(async () => {
  await setup.close()
  slow.close()
})

test('[S12] the landing responds when the sessions of its SSO session have ended here, not before', async () => {
  const browser = await loggedInBrowserAt(setup)
  const cookie = `sso2.sid=${present(browser.cookie('sso2.sid'))}`
  const opens = async () => (await setup.browser().fetchJson(`${quick.url}/`, { headers: { cookie } })).json.status
  expect(await opens()).toBe('loggedin')
  browser.dropCookies(({ name }) => name === 'sso2.sid')
  const page = await browser.submit(`${setup.url}/logout`, { return_to: '/end' })
  expect(page.url).toBe(`${setup.url}/end`)
  expect(await opens()).toBe('none')
  expect(view(await browser.visit(`${setup.url}/`)).status).toBe('anon')
})
