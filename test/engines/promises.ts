import type { Round } from './failover'
import type { Figures } from './judge'
import type { Step } from './rollout'

/*
 * What must be true of every run, and what must be true of it where the machine had time for it.
 */

/** A promise that was broken; `timing`: it says something only of a machine that did not stand still. */
export interface Broken {
  readonly text: string
  readonly isTiming: boolean
}

/** A machine that takes longer for a page without a store, in milliseconds, is busy with something else. */
export const QUIET_MS = 400
/** All is as ever so long after a replica has become master, or after the old master is back, in milliseconds. Promise I9. */
const HEALED_MS = 5000
/** So much of the load must have been there. */
const LEAST_LOAD = 0.7

/** Who may be on the way in a moment. */
const FEW = 5

type Check = readonly [holds: boolean, text: string, isTiming?: 'timing']

const broken = (checks: readonly Check[]): Broken[] =>
  checks.filter(([holds]) => !holds).map(([, text, timing]) => ({ text, isTiming: timing !== undefined }))

/** What holds of any time at all. */
function ofAnyTime(figures: Figures): Check[] {
  const { pages, failed, wrongUser, undone, passwordAgain, slow } = figures
  return [
    [pages > 0, 'no page was asked for'],
    [failed === 0, `${failed} pages failed`],
    [wrongUser === 0, `${wrongUser} answers showed somebody else`],
    [undone === 0, `${undone} logouts were undone`],
    [passwordAgain === 0, `${passwordAgain} readers would have to log in again`],
    [slow === 0, `${slow} pages took more than 3 s`, 'timing'],
  ]
}

/** Of a master that went. @param perSecond what readers were to do */
export function brokenByFailover(round: Round, perSecond: number): Broken[] {
  const { figures, replacedAfter, normalAfter, normalAfterThaw = 0, oldCookiesStayOpen } = round
  return broken([
    ...ofAnyTime(figures),
    [figures.logins > 0, 'nobody logged in'],
    [figures.stranded === 0, `${figures.stranded} browsers were left at the platform`],
    [oldCookiesStayOpen === 0, `${oldCookiesStayOpen} cookies from before a logout open a session after its check`],
    [round.perSecond > LEAST_LOAD * perSecond, `only ${Math.round(round.perSecond)} actions a second`, 'timing'],
    [normalAfter - replacedAfter <= HEALED_MS, 'not as ever within 5 s of the new master', 'timing'],
    [normalAfterThaw <= HEALED_MS, "not as ever within 5 s of the old master's return", 'timing'],
  ])
}

/** Of a step of a rolling deploy. */
export function brokenByStep({ figures, promise }: Step): Broken[] {
  const { lost, refused, stranded } = figures
  const few = promise === 'moment' ? FEW : 0
  const unnoticed: Check[] = [
    [lost === 0, `${lost} logins needed a trip`],
    [refused <= few, `${refused} logins or forms were refused`, 'timing'],
    [stranded <= few, `${stranded} browsers were left at the platform`],
  ]
  return broken([...ofAnyTime(figures), ...(promise === 'trip' ? [] : unnoticed)])
}
