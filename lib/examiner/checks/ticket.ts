/** Group `ticket`: a ticket becomes a user once, and a failure on the way costs no page. */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import { type Check, failed, need, noneOf, passed } from '../check'
import type { Fault } from '../platform'
import { pause } from '../stage'
import { arrive } from './landing'

const once: Check = {
  name: 'ticket/once',
  run: async (stage) => {
    const { browser, account, address, claims } = await arrive(stage)
    const since = Date.now()
    await Promise.all([1, 2, 3].map(() => stage.openHere(browser.copy('Browser A, again'), address.href)))
    const page = await stage.visit(browser, stage.site.userPage)
    const refused = stage.platform
      .calls(since, { operation: 'token' })
      .filter(({ call }) => call?.outcome === 'invalid_grant')
    if (refused.length > 0) return failed(`${refused.length} exchanges of a used ticket`)
    need(
      stage.platform.calls(since, { operation: 'token', sid: String(claims['sid']) }).length > 0,
      'no ticket was exchanged',
    )
    need(stage.shows(page, account), 'the user was not logged in')
    return passed()
  },
}

/** A failing endpoint: the visitor gets a page, and is anonymous. */
function failing(name: string, operation: EmulatedOperation, faults: readonly Fault[]): Check {
  return {
    name: `ticket/${name}`,
    isRough: true,
    run: async (stage) => {
      const problems: string[] = []
      for (const fault of faults) {
        const { browser, account, address } = await arrive(stage)
        const since = Date.now()
        const end = stage.platform.fault([operation], fault)
        const landed = await stage.openHere(browser, address.href)
        const page = landed.next === undefined ? landed : await stage.look(browser, stage.site.publicPage)
        const isKnown = await stage.isKnown(browser, account)
        end()
        need(stage.platform.calls(since, { operation }).length > 0, `the site did not call the ${operation} endpoint`)
        const kind = fault.kind === 'status' ? `${fault.kind} ${fault.code}` : fault.kind
        const status = landed.status === 0 ? landed.error : Math.max(landed.status, page.status)
        if (landed.status === 0 || landed.status >= 400 || page.status >= 400)
          problems.push(`${kind}: the visitor gets ${status}`)
        if (isKnown) problems.push(`${kind}: a user is shown whom nobody named`)
      }
      return noneOf(problems)
    },
  }
}

const back: Check = {
  name: 'ticket/login-afterwards',
  isRough: true,
  run: async (stage) => {
    const { browser, account, address } = await arrive(stage)
    const end = stage.platform.fault(['token'], { kind: 'status', code: 503 })
    await stage.openHere(browser, address.href)
    need(!(await stage.isKnown(browser, account)), 'the user was logged in without a ticket exchange')
    end()
    const limit = Date.now() + 60_000
    while (Date.now() < limit) {
      if (await stage.isShown(browser, account)) return passed()
      await pause(3000) // the turn is kept: other checks would disturb the platform
    }
    return failed('60 s after the token endpoint works again, the user is still not logged in')
  },
  isSlow: true,
}

const rightUser: Check = {
  name: 'ticket/right-user',
  run: async (stage) => {
    const arrivals = await Promise.all(Array.from({ length: 8 }, () => arrive(stage)))
    const end = stage.platform.fault(['token'], { kind: 'slow', ms: 120 }, { times: 4 })
    await Promise.all(arrivals.map(({ browser, address }) => stage.openHere(browser, address.href)))
    end()
    const problems: string[] = []
    let known = 0
    for (const { browser, account } of arrivals) {
      const page = await stage.visit(browser, stage.site.userPage)
      if (stage.shows(page, account)) known += 1
      const other = arrivals.find((one) => one.account !== account && stage.shows(page, one.account))
      if (other && stage.run.settings.loggedIn === undefined) problems.push('a user is shown the name of another user')
    }
    need(known >= 4, `only ${known} of 8 users were logged in at all`)
    return noneOf(problems)
  },
}

/** All checks of this group. */
export const ticketChecks: readonly Check[] = [
  once,
  failing('token-endpoint-fails', 'token', [{ kind: 'status', code: 500 }, { kind: 'down' }, { kind: 'garbage' }]),
  failing('rest-api-fails', 'me', [{ kind: 'status', code: 500 }, { kind: 'down' }, { kind: 'garbage' }]),
  failing('refused', 'token', [{ kind: 'status', code: 400 }]),
  back,
  rightUser,
]
