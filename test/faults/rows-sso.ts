import type { EmulatedOperation, FaultKind } from '../../lib/emulator/faults/rules'
import { type Actor, type Cell, landingOf, type Row } from './cells'
import type { Scene } from './scene'
import {
  flow,
  formLater,
  grace,
  landsLoggedIn,
  landsNowhere,
  loginLater,
  logoutPending,
  servedAnonymous,
  servedFresh,
  servedInTheEnd,
  sparedOnceKnown,
  sparedSoon,
} from './words'

const backChannel = ['authenticate', 'sessionstatus', 'logout', 'logoutall'] as const

const spoil = (fault: FaultKind, operations: readonly EmulatedOperation[]) => (scene: Scene) => {
  for (const operation of operations) scene.emulator.faults.add({ operation, ...fault } as never)
}
const clear = (scene: Scene): void => {
  scene.emulator.faults.clear()
}

const served = { anon: servedAnonymous, fresh: servedFresh }
const known = { ...served, stale: grace, login: loginLater(2000), logout: logoutPending(2000) }
/** By script, and then on the form. */
const loginLaterInBoth: Cell = async (scene, actor) => {
  await loginLater(2000)(scene, actor)
  await formLater(scene, actor)
}

/** Rows of the fault matrix. */
export const rows: Row[] = [
  {
    row: '1',
    name: 'the SSO system refuses connections',
    fault: ({ ssoFront }) => ssoFront.down(),
    mend: ({ ssoFront }) => ssoFront.up(),
    cells: {
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
      landing: landsLoggedIn,
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
      login: loginLaterInBoth,
      landing: landsLoggedIn,
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
      ...served,
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
