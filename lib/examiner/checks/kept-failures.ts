/** Check `rest/kept-failure`: a site that keeps responses of the REST API must not keep a failure. */
import { type Check, noneOf, notApplicable, notTold, passed, problemsIn } from '../check'
import type { Fault } from '../platform'
import { type Stage, waitUntil } from '../stage'
import { ALL_PAGES, isForgotten, keysOf, open, type ToldPage, toldPages } from './rest'

/** A failure of a single call. */
const UNAVAILABLE: Fault = { kind: 'status', code: 503 }

/** Time in which a site that pauses its calls after a failure must have called again. */
const AGAIN_SECONDS = 45

/** Returns the first call that failed: one of this page load, or of the first page load of the examination if the site keeps its responses since then. */
const failureOf = (stage: Stage, { name, operation }: ToldPage, since: number) =>
  stage.platform.calls(name === 'marketplace' ? 0 : since, { operation }).find(({ call }) => call.fault !== undefined)

/** Lets a call fail once. The failure must not be kept as if it were a response. */
async function keptProblems(stage: Stage, told: ToldPage): Promise<string[] | undefined> {
  const { name, operation, path } = told
  const browser = stage.browser()
  await stage.login(browser)
  const since = Date.now()
  const failOnce = async () => {
    const end = stage.platform.fault([operation], UNAVAILABLE, { times: 1 })
    await open(stage, told, browser)
    end()
    return failureOf(stage, told, since)
  }
  let failure = await failOnce()
  if (failure === undefined && name === 'marketplace' && (await isForgotten(stage))) failure = await failOnce()
  if (failure === undefined) return undefined
  const isCalledAgain = () =>
    stage.platform.calls(failure.at, { operation }).some(({ call }) => call.fault === undefined)
  const isServedAgain = async () => {
    if (!isCalledAgain()) await open(stage, told, browser)
    return isCalledAgain()
  }
  const isAgain = await waitUntil(isServedAgain, { withinMs: AGAIN_SECONDS * 1000, everyMs: 1000 })
  return problemsIn([
    [
      !isAgain,
      `a call of the REST API has failed once, and ${AGAIN_SECONDS} s later the page ${path} has still not called again: the site keeps the failure as if it were an answer`,
    ],
  ])
}

/** Lets single calls fail, and looks whether the site calls again soon. */
export const keptFailure: Check = {
  name: 'rest/kept-failure',
  isRough: true,
  // a site that keeps responses may make no other call for marketplace groups than the first
  beforeStart: (platform) => void platform.fault(['marketplace'], UNAVAILABLE, { times: 1 }),
  run: async (stage) => {
    const told = toldPages(stage, ALL_PAGES)
    const isMarketplace = stage.platform.calls(0, { operation: 'marketplace' }).length > 0
    if (isMarketplace && !told.some(({ name }) => name === 'marketplace')) {
      const address = stage.site.publicPage
      told.push({ name: 'marketplace', operation: 'marketplace', path: new URL(address).pathname, address })
    }
    if (told.length === 0) return notTold(keysOf(ALL_PAGES), 'a page that calls the REST API')
    let hasFailed = false
    for (const page of told) {
      const problems = await keptProblems(stage, page)
      if (problems !== undefined && problems.length > 0) return noneOf(problems)
      hasFailed ||= problems !== undefined
    }
    return hasFailed
      ? passed()
      : notApplicable('the site keeps the responses of before the examination, so no call could fail')
  },
}
