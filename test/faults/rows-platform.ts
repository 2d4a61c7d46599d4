import { ada, eventually } from '../support/setup'
import { type Actor, type Cell, post, type Row, visit } from './cells'
import type { Scene } from './scene'
import { flow, land, loginLater, servedAnonymous, servedFresh, staleFlow } from './words'

/** The SSO system says yes, and no answer names the user: checked again soon, and then without a password. */
const laterWithoutPassword: Cell = async (scene, actor) => {
  scene.emulator.clock.advance(61)
  const before = scene.count('authenticate')
  await eventually(async () => (await visit(scene, actor)).status === 'loggedin', 9)
  expect(scene.count('authenticate')).toBe(before)
}

const logsOut: Cell = async (scene, actor) => {
  await actor.browser.submit(`${scene.url}/logout`, { return_to: '/news' })
  expect(await visit(scene, actor)).toMatchObject({ status: 'anon' })
}

/** Never a login without a user. */
const landsPending: Cell = async (scene, actor) => {
  expect((await land(scene, actor)).status).toBe(303)
  expect(await visit(scene, actor)).toEqual({ status: 'anon', degraded: 'user_unknown', url: '/news' })
}

const unnamed = {
  new: flow('anon'),
  anon: servedAnonymous,
  fresh: servedFresh,
  stale: staleFlow,
  login: loginLater(3500),
  logout: logsOut,
  landing: landsPending,
}
const faulty = (row: string, operation: 'token' | 'me', what: string, fault: object): Row => ({
  row,
  name: what,
  fault: ({ emulator }) => {
    emulator.faults.add({ operation, ...fault } as never)
  },
  mend: ({ emulator }) => {
    emulator.faults.clear()
  },
  cells: unnamed,
  healed: { login: laterWithoutPassword, landing: laterWithoutPassword },
})

const pruneAll = ({ emulator }: Scene) => {
  for (const { sid } of emulator.sessions()) emulator.prune(sid)
}

/** Ended here too; Identify brings the browser a new session, and it may log in again. */
const beginsAnew: Cell = async (scene, actor) => {
  scene.emulator.clock.advance(361)
  expect(await visit(scene, actor)).toEqual({ status: 'anon', url: '/news' })
}
const mayLogIn: Cell = async (scene, actor) => {
  expect(await visit(scene, actor)).toMatchObject({ status: 'anon' })
  expect((await post(scene, actor)).status).toBe(200)
}

/** Rows of the fault matrix. */
export const rows: Row[] = [
  faulty('9', 'token', 'the token endpoint answers HTTP 503', { kind: 'status', code: 503 }),
  faulty('10', 'me', 'the REST API hangs', { kind: 'hang' }),
  faulty('10', 'me', 'the REST API names no user', { kind: 'garbage' }),
  {
    row: '8b',
    name: 'the SSO system has forgotten the session',
    fault: pruneAll,
    cells: {
      anon: beginsAnew,
      fresh: servedFresh,
      stale: beginsAnew,
      login: async (scene, actor: Actor) => {
        const { status, json } = await post(scene, actor)
        expect([status, json.error]).toEqual([401, 'session_ended'])
        expect(scene.emulator.account('ada').view().failedAttempts).toBe(0)
        const form = await actor.browser.visit(json.loginUrl)
        expect([form.status, form.body.includes('name="password"')]).toEqual([200, true])
        expect(form.body).not.toContain(ada.password)
      },
      logout: logsOut,
      landing: async (scene, actor) => {
        expect((await land(scene, actor)).status).toBe(303)
        expect((await visit(scene, actor)).status).toBe('anon')
        await beginsAnew(scene, actor)
      },
    },
    healed: { fresh: async () => {}, stale: mayLogIn, landing: mayLogIn, logout: mayLogIn },
  },
]
