/** Check `status/sensitive-page`: a page that must ask the platform at each request. */
import { type Check, failed, need, notTold, passed } from '../check'
import { isServerError, responseOf } from '../outcome'
import type { Fault } from '../platform'
import { loggedIn } from './logged-in'
import { spellingsOf } from './pages'

/** Age from which a login or a status check does not count as fresh. */
const MAX_FRESH_MS = 7000

/** Responses of Session Status that verify no user. */
const UNVERIFIED: readonly [response: string, fault: Fault][] = [
  ['responds with err invalid_token', { kind: 'error', code: 'invalid_token' }],
  ['responds about another session', { kind: 'wrong_session' }],
  ['does not respond', { kind: 'down' }],
]

/** Logs the user out on another site. A sensitive page must not rely on an earlier status check. */
export const sensitivePage: Check = {
  name: 'status/sensitive-page',
  isRough: true,
  run: async (stage) => {
    const { sensitive } = stage.run.settings.pages
    if (sensitive === undefined) return notTold(['pages.sensitive'], 'a page that asks the platform at each request')
    const address = new URL(sensitive, stage.site.url).href
    const other = await loggedIn(stage)
    const { browser, account, sid } = await loggedIn(stage)
    need(stage.shows(await stage.look(browser, address), account), `${sensitive} does not show its user`)
    await stage.second.logout(sid)
    const page = await stage.look(browser, address)
    if (isServerError(page) && page.status !== 503) return failed(`the page ${responseOf(page)}`)
    if (stage.shows(page, account))
      return failed('a user who has logged out on another site is still served the sensitive page')
    for (const spelling of spellingsOf(address))
      if (stage.shows(await stage.look(browser, spelling), account))
        return failed(`the sensitive page is served without a status check as ${new URL(spelling).pathname}`)
    for (const [response, fault] of UNVERIFIED) {
      await stage.run.wait(MAX_FRESH_MS) // or a site need not ask again
      const end = stage.platform.fault(['sessionstatus'], fault, { sid: other.sid })
      const unchecked = await stage.look(other.browser, address)
      end()
      // an error page may have the user's name in its head
      if (unchecked.status < 400 && stage.shows(unchecked, other.account))
        return failed(`while the platform ${response}, the sensitive page is served as if its user were verified`)
    }
    return passed()
  },
}
