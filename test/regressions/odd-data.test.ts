import express from 'express'
import session from 'express-session'
import { ada, addPages, view } from '../flows/network'
import type { Browser } from '../support/agent'
import { reader, type Stage, startStage, withPages } from './support'

/*
 * What a site's handler has in its session, or what its own store does, in the middle of a change of session.
 */

let stage: Stage
afterEach(() => stage.close())

const stranger = async (): Promise<Browser> => {
  const browser = stage.browser()
  await browser.visit(`${stage.url}/`)
  return browser
}

describe('data that cannot be written', () => {
  const circle: Record<string, unknown> = {}
  circle['itself'] = circle
  test.each([
    ['a BigInt', 10n],
    ['a circle', circle],
  ])(
    '(%s) in the session while req.sso2.login() runs costs neither the login nor the other data',
    async (_name, odd) => {
      const build = withPages((app) => {
        app.get('/odd-login', async (req, res) => {
          Object.assign(req.session, { odd })
          const { ok } = await req.sso2.login(ada)
          res.json({ ok, saved: req.session.saved, odd: 'odd' in req.session })
        })
      })
      stage = await startStage({ build })
      const browser = await stranger()
      await browser.fetchJson(`${stage.url}/keep`)
      const { body } = await browser.fetchJson(`${stage.url}/odd-login`)
      expect(JSON.parse(body)).toEqual({ ok: true, saved: 'kept', odd: false })
      const seen = view(await browser.fetchJson(`${stage.url}/news`))
      expect(seen).toMatchObject({ status: 'loggedin', username: 'ada', saved: 'kept' })
    },
  )
})

describe('a store of the site’s own that fails in the middle of a request', () => {
  test('undoes no logout, and costs no page', async () => {
    const store = new session.MemoryStore()
    stage = await startStage({
      build: (sso, gates) => {
        const app = express()
        app.use(session({ secret: 'a-secret-of-the-site', resave: false, saveUninitialized: false, store }))
        app.use(sso.router, sso.middleware)
        return addPages(app, sso, gates)
      },
    })
    const browser = await reader(stage)
    store.destroy = (_id, done) => done?.(new Error('the store of the site is away'))
    const answer = await browser.fetchJson(`${stage.url}/logout`, { json: {} })
    expect([answer.status, answer.json]).toEqual([200, { status: 'none', logout: 'confirmed' }])
    expect(view(await browser.fetchJson(`${stage.url}/news`)).status).toBe('none')
  })
})
