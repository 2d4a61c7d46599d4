import express from 'express'
import session from 'express-session'
import { cookieHeader } from '../support/addresses'
import type { Browser } from '../support/agent'
import {
  ada,
  addPages,
  grace,
  logIn,
  logInAtLast,
  present,
  sessionSecret,
  useSetup,
  view,
  visitor,
} from '../support/setup'

/*
 * A session of the site's own, whose cookie a sister domain may set: `Domain=.example; Path=/login` makes a browser send an attacker's
 * session ID first. A user who logs in with it would log in the attacker's session of the SSO system.
 * Before a second trip of one browser the clock moves: two tokens of one second are the same.
 */

const at = (path: string) => `${setup.morning.url}${path}`
const own = session({ name: 'own', secret: sessionSecret, resave: false, saveUninitialized: false })
const setup = useSetup({
  build: (sso, gates) => addPages(express().use(own, sso.router, sso.middleware), sso, gates),
})
afterEach(() => setup.emulator.reset())

test('[L2, S1] a login with the session ID of another browser does not log in that one’s session of the SSO system', async () => {
  const [attacker, victim] = [await visitor(setup), await visitor(setup)]
  const headers = { cookie: `own=${present(attacker.cookie('own'))}; ${cookieHeader(victim, setup.morning.url)}` }
  const answer = await setup.browser({ cookies: false }).fetchJson(at('/login'), { json: ada, headers })
  expect([answer.status, answer.json.error]).toEqual([401, 'session_ended'])
  expect(answer.json.loginUrl).toContain('/login?')
  expect(setup.countCalls('authenticate')).toBe(0)
  expect(setup.emulator.sessions().filter(({ status }) => status === 'loggedin')).toEqual([])
  expect(view(await attacker.visit(at('/'))).status).toBe('anon')
})

test('a user whose browser has lost the binding is led through Identify before the form, and logs in at once', async () => {
  const browser = await visitor(setup)
  setup.emulator.clock.advance(2)
  browser.dropCookies(({ name }) => name === 'sso2.b')
  await logIn(browser, setup.morning, ada)
  expect(view(await browser.visit(at('/')))).toMatchObject({ status: 'loggedin', username: 'ada' })
})

/** A browser that the attacker's session ID was set in. */
function tossedInto(attacker: Browser): Browser {
  const victim = setup.browser()
  victim.takeCookie(`own=${present(attacker.cookie('own'))}; Path=/`, setup.morning.url)
  return victim
}

test.each([
  ['the victim has opened the login page', '/login', () => {}],
  [
    'its SSO session is over',
    '/',
    () => {
      for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
      setup.emulator.clock.advance(400)
    },
  ],
])('[L2, S1] a session of two browsers gives one no login of the other, after %s', async (_what, page, prepare) => {
  const attacker = await visitor(setup)
  setup.emulator.clock.advance(2)
  prepare()
  const victim = tossedInto(attacker)
  await victim.visit(at(page)) // Identify puts the victim's SSO session into the attacker's session
  setup.emulator.clock.advance(2)
  await logInAtLast(victim, setup.evening, ada)
  setup.emulator.clock.advance(400)
  expect(view(await attacker.visit(at('/')))).toMatchObject({ status: 'anon' })
})

test('[L2, S1] a session of the attacker whose SSO session is over is not that of a victim who has its ID: no logout by the attacker', async () => {
  const attacker = await visitor(setup)
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(400)
  await attacker.fetchJson(at('/')) // finds that it is over
  const victim = tossedInto(attacker)
  await victim.visit(at('/'))
  expect(victim.cookie('own')).not.toBe(attacker.cookie('own'))
  await attacker.fetchJson(at('/logout'), { json: {} })
  expect(setup.countCalls('logout')).toBe(0)
})

test('[L1, S1] a login of the attacker elsewhere does not log in a browser with its session ID', async () => {
  const attacker = await visitor(setup)
  setup.emulator.clock.advance(2)
  const victim = tossedInto(attacker)
  await logInAtLast(attacker, setup.evening, grace)
  setup.emulator.clock.advance(400)
  expect(view(await victim.visit(at('/')))).toMatchObject({ status: 'anon' })
})
