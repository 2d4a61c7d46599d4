import express, { type Express } from 'express'
import { sso2 } from '../../lib'
import { createEmulator } from '../../lib/emulator'
import { signIn, visit } from '../../lib/testing'

const emulator = createEmulator()
let app: Express
let sso: ReturnType<typeof sso2>

beforeAll(async () => {
  await emulator.listen(0)
  sso = sso2({
    ...emulator.siteOptions(),
    siteUrl: 'http://localhost:3001',
    sessionSecret: 'a-session-secret-of-more-than-32-bytes',
    clock: emulator.clock,
  })
  app = express()
  app.use(sso)
  app.get('/', (req, res) => void res.json(req.sso2))
  app.get('/account', sso.requireLogin(), (req, res) => void res.json(req.sso2.user))
})
afterAll(async () => {
  await sso.close()
  await emulator.close()
})

test('visit walks through Identify and landing and ends on the page asked for', async () => {
  const page = await visit(app, '/?page=2')
  expect(page.status).toBe(200)
  expect(page.url).toBe('/?page=2')
  expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
  expect(page.body).toEqual({ status: 'anon' })
})

test('signIn gives an agent that is logged in', async () => {
  const agent = await signIn(app, { username: 'ada', password: 'correct-horse' })
  const { body } = await agent.get('/account').expect(200)
  expect(body).toMatchObject({ username: 'ada' })
})

test('signIn says that a login was refused, without the password', async () => {
  const refused = signIn(app, { username: 'ada', password: 'not-the-password' })
  await expect(refused).rejects.toThrow('signIn: the login was refused with 401')
  await expect(refused).rejects.not.toThrow('not-the-password')
})

test('a visit goes on in the same browser, form and all', async () => {
  const login = await visit(app, '/login?return_to=/account')
  const account = await login.submit('/login', { username: 'grace', password: 'battery-staple', return_to: '/account' })
  expect(account.url).toBe('/account')
  expect(account.body).toMatchObject({ username: 'grace' })
})
