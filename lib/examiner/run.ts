/** Runs the checks in turn. Checks that wait until a session is old wait at the same time. */
import { type Check, type Finding, notApplicable, type Result, Undecided } from './check'
import type { Chromium } from './chromium'
import { evidenceOf } from './evidence'
import { loginFormOf, type SiteFacts } from './facts'
import type { Platform } from './platform'
import { Seen } from './seen'
import type { Settings } from './settings'
import { isAwake, type Run, Stage, waitUntil } from './stage'
import { textOf } from './texts'
import { Turn, Turns } from './turns'

/** Input of a run. */
export interface Examination {
  readonly platform: Platform
  readonly settings: Settings
  readonly facts: SiteFacts
  readonly siteOutput?: (() => string) | undefined
  readonly chromium?: Chromium | undefined
  /** Time for a site to recover after a disturbance. Default 45 s. */
  readonly recoveryMs?: number
  /** Time that the run may wait for a site that pauses its calls after failures. Default ten minutes. */
  readonly patienceMs?: number
  /** Called before each check. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Progress of a run. */
export interface Progress {
  readonly name: string
  readonly done: number
  readonly all: number
  /** Estimated seconds until the end. */
  readonly leftSeconds: number
}

const SECONDS_OF_CHECK = 1.2
/** Maximum time for a site to recover from a disturbance before the next check. */
const RECOVERY_MS = 45_000

/** Default of `patienceMs`. */
const PATIENCE_MS = 600_000

/**
 * Runs checks.
 * @returns the results in the order of the list
 */
export async function runChecks(checks: readonly Check[], examination: Examination): Promise<Result[]> {
  return new Runner(checks, examination).run()
}

class Runner {
  readonly #turns = new Turns()
  readonly #begin = Date.now()
  readonly #seen: Seen
  readonly #patience: { leftMs: number }
  #nextAccount = 1
  #done = 0

  constructor(
    private readonly checks: readonly Check[],
    private readonly examination: Examination,
  ) {
    this.#seen = new Seen(examination.platform, examination.settings)
    this.#patience = { leftMs: examination.patienceMs ?? PATIENCE_MS }
  }

  /** Starts slow checks first, so that their sessions age during the other checks. */
  async run(): Promise<Result[]> {
    const inOrder = [...this.checks].sort((a, b) => Number(b.isSlow ?? false) - Number(a.isSlow ?? false))
    const runAll = (checks: readonly Check[]) => Promise.all(checks.map((check) => this.#one(check)))
    const results = await runAll(inOrder.filter(({ isLast }) => !isLast))
    results.push(...(await runAll(inOrder.filter(({ isLast }) => isLast))))
    const names = this.checks.map(({ name }) => name)
    return results.sort((a, b) => names.indexOf(a.name) - names.indexOf(b.name))
  }

  async #one(check: Check): Promise<Result> {
    const { platform, settings, facts, siteOutput, chromium } = this.examination
    const turn = new Turn(this.#turns)
    await turn.take()
    this.#say(check)
    const begin = Date.now()
    const run: Run = {
      check: check.name,
      platform,
      settings,
      siteOutput,
      seen: this.#seen,
      patience: this.#patience,
      chromium,
      nextAccount: () => this.#account(),
      wait: (milliseconds) => turn.wait(milliseconds),
    }
    let stage = new Stage(run, facts)
    let finding = await runCheck(check, stage)
    const mayRepeat = finding.verdict === 'undecided' && !finding.reason.startsWith(EXAMINER_FAILED) && !check.isSlow
    if (mayRepeat && (await isAwake(stage))) {
      stage = new Stage(run, facts)
      turn.beginWindow()
      finding = await runCheck(check, stage)
    }
    const endTurn = await turn.endLastWindow() // the calls of the recovery are no evidence
    platform.runtime.faults.clear()
    if (check.isRough) await recover(stage, this.examination.recoveryMs ?? RECOVERY_MS)
    endTurn()
    this.#done += 1
    const { windows } = turn
    const traces = platform.runtime.traces.since(begin)
    const seen = traces.filter(({ at }) => windows.some(([from, to]) => at >= from && at <= to))
    const seconds = windows.reduce((sum, [from, to]) => sum + (to - from) / 1000, 0)
    const known = textOf(check.name)
    const text = { ...known, effect: finding.effect ?? known.effect, fix: finding.fix ?? known.fix }
    const flow = evidenceOf(check.name, stage.hops, seen, run)
    return { ...finding, name: check.name, text, seconds, attempts: stage.attempts, flow }
  }

  #account() {
    const account = this.examination.platform.accounts[this.#nextAccount++]
    if (!account) throw new Undecided('the examiner has no account left')
    return account
  }

  #say({ name }: Check): void {
    const { settings, onProgress } = this.examination
    const left = (this.checks.length - this.#done) * SECONDS_OF_CHECK
    const waiting = this.checks.some(({ isSlow }) => isSlow)
      ? settings.recheckSeconds + 20 - (Date.now() - this.#begin) / 1000
      : 0
    onProgress?.({ name, done: this.#done, all: this.checks.length, leftSeconds: Math.max(left, waiting, 0) })
  }
}

const EXAMINER_FAILED = 'the examiner failed'
const NAMELESS = notApplicable('examine.json describes the pages by loggedIn or loggedOut, not by a name')

async function runCheck(check: Check, stage: Stage): Promise<Finding> {
  try {
    return check.needsNames && !stage.namesUsers ? NAMELESS : await check.run(stage)
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'the check itself has failed'
    return { verdict: 'undecided', reason: error instanceof Undecided ? reason : `${EXAMINER_FAILED}: ${reason}` }
  }
}

/** Waits after a disturbance until the site works as before. */
async function recover(stage: Stage, patienceMs: number): Promise<void> {
  const kept = stage.hops.length
  await waitUntil(() => isWorking(stage), { withinMs: patienceMs, everyMs: 500 })
  stage.hops.splice(kept)
}

/**
 * Does the site work? New visitors must be redirected to Identify and see the login form.
 * A user who logs in on the second site must be logged in here too.
 */
async function isWorking(stage: Stage): Promise<boolean> {
  const { isIdentifiedAlways, publicPage, loginPage, passwordField, userPage } = stage.site
  const first = await stage.visit(stage.browser(), isIdentifiedAlways ? publicPage : loginPage)
  const login = await stage.visit(stage.browser(), loginPage)
  if (stage.identifies(first) === 0 || loginFormOf(login.forms, passwordField) === undefined) return false
  const [account] = stage.platform.accounts
  const browser = stage.browser()
  const { sid } = await stage.loginElsewhere(browser, account)
  const isShown = stage.shows(await stage.visit(browser, userPage), account)
  await stage.second.logout(sid)
  return isShown
}
