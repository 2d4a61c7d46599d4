import express from 'express'
import { Redis } from 'ioredis'
import { ada, addPages, loggedInBrowser, redisUrl, type Setup, startSetup, visitor } from '../support/setup'

/* A handler that writes to req.session long after its session has ended. */

let setup: Setup
let redis: Redis
beforeAll(async () => {
  redis = new Redis(redisUrl())
  setup = await startSetup({
    build: (sso, gates) => {
      const app = express().use(sso)
      app.post('/late', async (req, res) => {
        await req.sso2.login(ada)
        res.flushHeaders()
        await gates.wait(String(req.query['gate']))
        Object.assign(req.session, { late: 'data' })
        res.end('{}')
      })
      return addPages(app, sso, gates)
    },
  })
})
afterAll(async () => {
  redis.disconnect()
  await setup.close()
})

const keysOf = (kind: string) => redis.keys(`${setup.morning.prefix}${kind}:*`)

test('[S6] the first write to req.session after a login that a logout has ended, later than its trace → nothing is created', async () => {
  const other = await loggedInBrowser(setup)
  const browser = await visitor(setup)
  const gate = setup.morning.gates.add()
  const late = browser.fetchJson(`${setup.morning.url}/late?gate=${gate.name}`, { json: {} })
  await gate.arrived
  expect(await keysOf('sess')).toEqual([])
  await other.fetchJson(`${setup.morning.url}/logout-all`, { json: {} })
  for (const key of await keysOf('sso2')) await redis.del(key) // as if the trace had expired
  gate.open()
  await late
  expect(await keysOf('sess')).toEqual([])
})
