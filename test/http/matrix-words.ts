import { ada, eventually, present } from '../support/setup'
import { timed } from '../support/wait'
import { type Actor, type Cell, page, post, visit } from './matrix-cells'
import { type Scene, STATUS_MS } from './matrix-scene'

/* The words of the fault matrix, as assertions. Bounds on time have some room for a busy machine. */
const ROOM_MS = 1500

/** The page is served, and not later than that. */
export async function expectPage(scene: Scene, actor: Actor, expected: object, withinMs = Infinity): Promise<void> {
  const { status, view, ms } = await page(scene, actor)
  expect([status, view]).toEqual([200, expected])
  expect(ms).toBeLessThan(withinMs)
}

/** The page as for anybody: served, not redirected. */
export const servedAnonymous: Cell = async (scene, actor) => {
  const before = scene.count('sessionstatus')
  const { status, view, ms } = await page(scene, actor)
  expect([status, view?.status]).toEqual([200, 'anon'])
  expect(ms).toBeLessThan(ROOM_MS)
  expect(scene.count('sessionstatus')).toBe(before)
}

/** Logged in from the record, and the SSO system is not asked. */
export const servedFresh: Cell = async (scene, actor) => {
  const before = scene.emulator.calls().length
  await expectPage(scene, actor, { status: 'loggedin', username: 'ada', saved: 'kept', url: '/news' }, ROOM_MS)
  expect(scene.emulator.calls()).toHaveLength(before)
}

const inGrace = { status: 'loggedin', username: 'ada', saved: 'kept', degraded: 'sso_unavailable', url: '/news' }
const beyond = { status: 'none', degraded: 'sso_unavailable' }

/** One try, then grace: logged in up to its end, then no user; the cookie stays. Promise I4. */
export const grace: Cell = async (scene, actor) => {
  const cookie = actor.browser.cookie('sso2.sid')
  await expectPage(scene, actor, inGrace, 2 * STATUS_MS + ROOM_MS)
  await expectPage(scene, actor, inGrace, ROOM_MS)
  scene.emulator.clock.advance(900)
  const last = await page(scene, actor)
  expect([last.status, last.view]).toEqual([200, expect.objectContaining(beyond)])
  expect(last.view?.username).toBeUndefined()
  expect(actor.browser.cookie('sso2.sid')).toBe(cookie)
}

/** "Not now", never "wrong password". */
export async function expectNotNow(scene: Scene, actor: Actor, withinMs: number): Promise<void> {
  const { status, json, headers, ms } = await post(scene, actor)
  expect([status, json]).toEqual([503, { error: 'unavailable' }])
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect(ms).toBeLessThan(withinMs)
}

/** "Not now", and no attempt is counted against the user. */
export const loginLater = (withinMs: number): Cell => {
  return async (scene, actor) => {
    await expectNotNow(scene, actor, withinMs + ROOM_MS)
    const account = scene.emulator.account('ada').view()
    expect([account.failedAttempts, account.frozenUntil]).toEqual([0, null])
    expect((await page(scene, actor)).view?.status).not.toBe('loggedin')
  }
}

/** The form as a person sees it. */
export const formLater: Cell = async (scene, { browser }) => {
  const form = await browser.submit(`${scene.url}/login`, { ...ada, return_to: '/' })
  expect(form.status).toBe(503)
  expect(form.body).not.toContain(ada.password)
}

/** This browser is logged out at once; the rest follows when that is possible. */
export const logsOutHere = (withinMs: number): Cell => {
  return async (scene, actor) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
    const logOut = () => actor.browser.fetchJson(`${scene.url}/logout`, { method: 'POST', headers })
    const [answer, ms] = await timed(logOut)
    expect([answer.status, answer.headers.location]).toEqual([303, `${scene.url}/`])
    expect(ms).toBeLessThan(withinMs + ROOM_MS)
    const after = await page(scene, actor)
    expect([after.status, after.view?.status]).toEqual([200, 'none'])
  }
}

/** The old cookie is worth nothing, though the SSO system has not heard of it. Promise I5. */
export const logoutPending = (withinMs: number): Cell => {
  return async (scene, actor) => {
    await logsOutHere(withinMs)(scene, actor)
    expect(actor.browser.cookie('sso2.sid')).toBeUndefined()
    await expectOldCookieDead(scene, present(actor.session))
  }
}

/** A check that goes as it should. */
export const staleFlow: Cell = async (scene, actor) => {
  expect(await visit(scene, actor)).toEqual({ status: 'loggedin', username: 'ada', saved: 'kept', url: '/news' })
  expect(scene.count('sessionstatus')).toBe(1)
}

export async function expectOldCookieDead(scene: Scene, cookie: string): Promise<void> {
  const { json } = await scene.browser().fetchJson(`${scene.url}/news`, { headers: { cookie: `sso2.sid=${cookie}` } })
  expect(json.status).toBe('none')
}

/** What is in hand is verified without the SSO system: the user is logged in. */
export const landsLoggedIn: Cell = async (scene, actor) => {
  const landed = await land(scene, actor)
  expect(landed.status).toBe(303)
  expect((await page(scene, actor)).view).toMatchObject({ status: 'loggedin', username: 'ada' })
}

/** Refused: no login and no failure; the browser is never sent round for ever. */
export const landsNowhere: Cell = async (scene, actor) => {
  const landed = await land(scene, actor)
  expect(landed.status).toBe(303)
  await servedInTheEnd(scene, actor)
}

/** A few redirects to Identify at most, then the page without a user. */
export const servedInTheEnd: Cell = async (scene, actor) => {
  const seen = await actor.browser.visit(`${scene.url}/news`)
  expect(seen.status).toBe(200)
  expect(seen.trail.length).toBeLessThanOrEqual(13)
  expect(JSON.parse(seen.body).status).toBe('none')
}

export function land(_scene: Scene, { browser, landing }: Actor) {
  return browser.fetchJson(landing, { headers: { accept: 'text/html', 'sec-fetch-dest': 'document' } })
}

/** After the circuit has opened new visitors are not sent to a dead host. */
export const sparedOnceKnown: Cell = async (scene, actor) => {
  const ask = () => scene.sso().client.sessionStatus({ sid: 'nobody', lks: 'anon', ipa: '192.0.2.1', uas: 'x' })
  await Promise.all(Array.from({ length: 5 }, () => ask().catch(() => {})))
  expect(scene.sso().client.isAvailable).toBe(false)
  await expectPage(scene, actor, { status: 'none', degraded: 'sso_unavailable', url: '/news' })
}

/** The first ones are sent to a host that is not there; a connection in the background notices, and the others are not. */
export const sparedSoon: Cell = async (scene, actor) => {
  expect((await page(scene, actor)).status).toBe(302)
  await eventually(async () => (await page(scene, { browser: scene.browser(), landing: '' })).status === 200)
}

/** As on any day. */
export const flow =
  (status: string): Cell =>
  async (scene, actor) =>
    expect(await visit(scene, actor)).toMatchObject({ status })
