/**
 * Examines a running site and reports: plays the platform, the users and the attackers.
 * Sites in any language can be examined, because the examiner uses HTTP only.
 * The checks are in `checks/`, their texts in `texts/`, the reports in `report/`.
 */
import type { Check } from './check'
import { allChecks } from './checks'
import type { Chromium } from './chromium'
import { discover } from './discovery'
import type { Platform } from './platform'
import type { Examined } from './report/summary'
import { type Progress, runChecks } from './run'
import type { Settings } from './settings'
import { textOf } from './texts'

/** Time that a quick run may wait for a site that pauses its calls after failures. */
const QUICK_PATIENCE_MS = 10_000

/** Options of an examination. */
export interface ExamineOptions {
  readonly platform: Platform
  readonly settings: Settings
  /** Names of checks or groups. All checks run if the list is empty. */
  readonly only: readonly string[]
  readonly skip: readonly string[]
  /** Leaves out every check that waits, and checks that are like another one. */
  readonly isQuick: boolean
  /** Opens pages and sends forms, for sites whose login needs scripts. */
  readonly chromium?: Chromium | undefined
  readonly siteOutput?: (() => string) | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** The checks to run. */
type Choice = Pick<ExamineOptions, 'only' | 'skip' | 'isQuick' | 'settings'>

/** Prepares the platform for the checks to run. To be called before the site starts. */
export function prepare(options: Choice & Pick<ExamineOptions, 'platform'>): void {
  for (const { beforeStart } of choose(options).chosen) beforeStart?.(options.platform)
}

/**
 * Examines a site.
 * @throws {CannotExamine} if the examination cannot be made, with the first problem to solve
 */
export async function examine(options: ExamineOptions): Promise<Examined> {
  const { platform, settings } = options
  const begin = Date.now()
  const [account] = platform.accounts
  const { facts, notes, hasPackage } = await discover(platform, settings, account, options.chromium)
  const { chosen, skipped } = choose(options)
  const { siteOutput, onProgress, chromium } = options
  const patience = options.isQuick ? { patienceMs: QUICK_PATIENCE_MS } : {}
  const examination = { platform, settings, facts, siteOutput, onProgress, chromium, ...patience }
  const results = await runChecks(chosen, examination)
  return {
    siteUrl: platform.siteUrl,
    at: begin,
    seconds: (Date.now() - begin) / 1000,
    ...{ notes, results, skipped, hasPackage },
  }
}

/** Returns the checks to run, and the omitted checks with a reason. */
function choose({ only, skip, isQuick, settings }: Choice) {
  const skipped: { name: string; reason: string }[] = []
  const chosen = allChecks.filter((check) => {
    if (only.length > 0 && !only.some((name) => isNamed(check, name))) return false
    const reason = reasonToSkip(check, { skip, isQuick, settings })
    if (reason !== undefined) skipped.push({ name: check.name, reason })
    return reason === undefined
  })
  return { chosen, skipped }
}

function reasonToSkip(check: Check, { skip, isQuick, settings }: Omit<Choice, 'only'>) {
  if (skip.some((name) => isNamed(check, name))) return '--skip'
  const configured = Object.entries(settings.skip).find(([name]) => isNamed(check, name))
  if (configured) return configured[1]
  if (!isQuick) return undefined
  const notInQuick = check.isSlow ? 'the check waits' : check.notInQuick
  return notInQuick === undefined ? undefined : `--quick: ${notInQuick}`
}

/** Does a check have the name, or belong to the group? */
const isNamed = ({ name }: Check, given: string) => name === given || name.startsWith(`${given}/`)

/** Returns a name that fits no check, or undefined. */
export const unknownName = (names: readonly string[]): string | undefined =>
  names.find((name) => !allChecks.some((check) => isNamed(check, name)))

/** Returns all checks with their subjects, for `--list`. */
export const listOfChecks = (): { name: string; good: string; isSlow: boolean }[] =>
  allChecks.map(({ name, isSlow = false }) => ({ name, good: textOf(name).good, isSlow }))
