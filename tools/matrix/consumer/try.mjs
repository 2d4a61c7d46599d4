/* The emulator in code and the help for tests, as a test of a site uses them. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import express from 'express'
import { sso2 } from 'express-sso2'
import { createEmulator } from 'express-sso2/emulator'
import { signIn, visit } from 'express-sso2/testing'

const require = createRequire(import.meta.url)
assert.equal(require('express-sso2').sso2, sso2)
assert.equal(require('express-sso2/emulator').createEmulator, createEmulator)
assert.equal(require('express-sso2/testing').signIn, signIn)

const emulator = createEmulator()
await emulator.listen(0)
const sso = sso2({
  ...emulator.siteOptions(),
  siteUrl: 'http://localhost:3001',
  sessionSecret: 'of-more-than-thirty-two-bytes-for-a-test',
  clock: emulator.clock,
})
const app = express()
app.use(sso)
app.get('/', (req, res) => {
  req.session.seen = (req.session.seen ?? 0) + 1
  res.json({ name: req.sso2.user?.name })
})
app.get('/account', sso.requireLogin(), (req, res) => res.json(req.sso2.user))

const stranger = await visit(app, '/')
assert.deepEqual([stranger.status, stranger.trail.length], [200, 4])
const agent = await signIn(app, { username: 'ada', password: 'correct-horse' })
assert.equal((await agent.get('/account').expect(200)).body.username, 'ada')
emulator.clock.advance(361)
for (const { sid } of emulator.sessions()) emulator.terminate(sid)
await agent.get('/account').expect(401)
await Promise.all([sso.close(), emulator.close()])
