import type { EmulatedOperation, FaultKind } from '../../lib/emulator/faults/rules'
import { ada, eventually } from '../support/setup'
import { type Actor, type Cell, landingOf, post, type Row, testRows, visit } from './matrix-cells'
import type { Scene } from './matrix-scene'
import {
  flow,
  formLater,
  grace,
  land,
  landsLoggedIn,
  landsNowhere,
  loginLater,
  logoutPending,
  servedAnonymous,
  servedFresh,
  servedInTheEnd,
  sparedOnceKnown,
  sparedSoon,
  staleFlow,
} from './matrix-words'

/* Faults of the SSO system, of the token endpoint and of the REST API, and who meets them. */

const backChannel = ['authenticate', 'sessionstatus', 'logout', 'logoutall'] as const

const spoil = (fault: FaultKind, operations: readonly EmulatedOperation[]) => (scene: Scene) => {
  for (const operation of operations) scene.emulator.faults.add({ operation, ...fault } as never)
}
const clear = (scene: Scene): void => {
  scene.emulator.faults.clear()
}

const served = { anon: servedAnonymous, fresh: servedFresh }
const known = { stale: grace, login: loginLater(2000) }
/** By script, and then on the form. */
const loginLaterInBoth: Cell = async (scene, actor) => {
  await loginLater(2000)(scene, actor)
  await formLater(scene, actor)
}

const ofSso: Row[] = [
  {
    row: '1',
    name: 'the SSO system refuses connections',
    fault: ({ ssoFront }) => ssoFront.down(),
    mend: ({ ssoFront }) => ssoFront.up(),
    cells: {
      ...served,
      ...known,
      new: sparedSoon,
      login: loginLaterInBoth,
      logout: logoutPending(3000),
      landing: landsLoggedIn,
    },
  },
  {
    row: '2',
    name: 'the SSO system hangs',
    fault: ({ ssoFront }) => ssoFront.stall(),
    mend: ({ ssoFront }) => ssoFront.heal(),
    cells: {
      ...known,
      new: sparedOnceKnown,
      login: loginLater(9500),
      logout: logoutPending(3500),
    },
  },
  ...(
    [
      ['3', 'answers HTTP 503', { kind: 'status', code: 503 }],
      ['4', 'answers garbage', { kind: 'garbage' }],
    ] as const
  ).map(([row, what, fault]) => ({
    row,
    name: `the SSO system ${what}`,
    fault: spoil(fault, backChannel),
    mend: clear,
    cells: {
      ...known,
      new: row === '3' ? sparedOnceKnown : flow('anon'),
      logout: logoutPending(2000),
    },
  })),
  {
    row: '5',
    name: 'answers with a wrong signature',
    fault: spoil({ kind: 'wrong_signature' }, backChannel),
    mend: clear,
    cells: known,
  },
  {
    row: '5',
    name: 'Identify signs with another secret',
    fault: spoil({ kind: 'wrong_signature' }, ['identify']),
    mend: (scene) => {
      clear(scene)
      scene.emulator.clock.advance(5)
    },
    cells: {
      new: servedInTheEnd,
      landing: async (scene, actor) =>
        landsNowhere(scene, { ...actor, landing: await landingOf(scene, actor.browser) }),
    },
  },
  ...([60, -60] as const).map((seconds, index) => ({
    row: `${6 + index}`,
    name: `the site's clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`,
    options: { leewaySeconds: 90 },
    fault: (scene: Scene) => {
      scene.skew = seconds
    },
    mend: (scene: Scene) => {
      scene.skew = 0
      scene.emulator.clock.advance(130) // what was written with the wrong clock has passed
    },
    cells: {
      ...known,
      stale: async (scene: Scene, actor: Actor) => {
        scene.emulator.clock.advance(60) // a clock that is behind notices later
        await grace(scene, actor)
      },
      new: servedInTheEnd,
      landing: landsNowhere,
    },
  })),
  {
    row: '8',
    name: 'the SSO system calls our tokens invalid',
    fault: spoil({ kind: 'error', code: 'invalid_token' }, [...backChannel, 'identify']),
    mend: (scene) => {
      clear(scene)
      scene.emulator.clock.advance(5)
    },
    cells: {
      ...known,
      new: servedInTheEnd,
      landing: landsLoggedIn,
    },
  },
]

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

const ofPlatform: Row[] = [
  faulty('9', 'token', 'the token endpoint answers HTTP 503', { kind: 'status', code: 503 }),
  faulty('10', 'me', 'the REST API hangs', { kind: 'hang' }),
  faulty('10', 'me', 'the REST API names no user', { kind: 'garbage' }),
  {
    row: '8b',
    name: 'the SSO system has forgotten the session',
    fault: pruneAll,
    cells: {
      anon: beginsAnew,
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
    healed: { stale: mayLogIn, landing: mayLogIn, logout: mayLogIn },
  },
]

testRows([...ofSso, ...ofPlatform])
