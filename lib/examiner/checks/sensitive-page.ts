/** Checks `status/sensitive-page` and `status/sensitive-unverified`: a page that must ask the platform at each request. */
import { type Check, failed, need, notTold, passed } from '../check'
import { isServerError, responseOf } from '../outcome'
import type { Fault } from '../platform'
import type { Stage } from '../stage'
import { type LoggedIn, loggedIn } from './logged-in'
import { spellingsOf } from './pages'

/** Returns the path and the address of the page, if `examine.json` names it. */
function sensitiveOf({ run, site }: Stage): { path: string; address: string } | undefined {
  const path = run.settings.pages.sensitive
  return path === undefined ? undefined : { path, address: new URL(path, site.url).href }
}

const NOT_TOLD = notTold(['pages.sensitive'], 'a page that asks the platform at each request')

/**
 * Logs a user in who sees the page.
 * @throws {Undecided} if the page does not show its user
 */
async function readerOf(stage: Stage, { path, address }: { path: string; address: string }): Promise<LoggedIn> {
  const reader = await loggedIn(stage)
  need(stage.shows(await stage.look(reader.browser, address), reader.account), `${path} does not show its user`)
  return reader
}

/** Logs the user out on another site. The page must not rely on an earlier status check. */
export const sensitivePage: Check = {
  name: 'status/sensitive-page',
  isRough: true,
  run: async (stage) => {
    const sensitive = sensitiveOf(stage)
    if (sensitive === undefined) return NOT_TOLD
    const { address } = sensitive
    const { browser, account, sid } = await readerOf(stage, sensitive)
    await stage.second.logout(sid)
    const page = await stage.look(browser, address)
    if (isServerError(page) && page.status !== 503) return failed(`the page ${responseOf(page)}`)
    if (stage.shows(page, account))
      return failed('a user who has logged out on another site is still served the sensitive page')
    for (const spelling of spellingsOf(address))
      if (stage.shows(await stage.look(browser, spelling), account))
        return failed(`the sensitive page is served without a status check as ${new URL(spelling).pathname}`)
    return passed()
  },
}

/** Age from which a login or a status check does not count as fresh. */
const MAX_FRESH_MS = 7000

/** Responses of Session Status that verify no user. */
const UNVERIFIED: readonly [response: string, fault: Fault][] = [
  ['responds with err invalid_token', { kind: 'error', code: 'invalid_token' }],
  ['responds about another session', { kind: 'wrong_session' }],
  ['does not respond', { kind: 'down' }],
]

/** Lets Session Status verify nobody. The page must not be served as if its user were verified. */
export const sensitiveUnverified: Check = {
  name: 'status/sensitive-unverified',
  isRough: true,
  notInQuick: 'the check waits',
  run: async (stage) => {
    const sensitive = sensitiveOf(stage)
    if (sensitive === undefined) return NOT_TOLD
    const { browser, account, sid } = await readerOf(stage, sensitive)
    for (const [response, fault] of UNVERIFIED) {
      await stage.run.wait(MAX_FRESH_MS) // or a site need not ask again
      const end = stage.platform.fault(['sessionstatus'], fault, { sid })
      const page = await stage.look(browser, sensitive.address)
      end()
      // an error page may have the user's name in its head
      if (page.status < 400 && stage.shows(page, account))
        return failed(`while the platform ${response}, the sensitive page is served as if its user were verified`)
    }
    return passed()
  },
}
