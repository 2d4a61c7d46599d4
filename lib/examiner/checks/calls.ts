/** Group `calls`: the calls of the site in the whole examination. */
import { isIP } from 'node:net'
import type { EmulatedOperation } from '../../emulator/faults/rules'
import type { Call } from '../../emulator/platform/calls'
import type { Trace } from '../../emulator/platform/traces'
import { USER_AGENT } from '../browser'
import { type Check, need, noneOf, passed, problemsIn, warning } from '../check'
import type { Stage } from '../stage'
import { secretsInOutput, userAddress } from './output'

/** Operations with a request token. */
const withToken: readonly EmulatedOperation[] = ['identify', 'authenticate', 'sessionstatus', 'logout', 'logoutall']

/** The username or password is empty, as other checks type them. */
const EMPTY_INPUT = /^(?:usr|pwd): /

/** Did the platform refuse the request token, without a fault of the examiner? */
const isRefusedToken = ({ outcome, fault, operation, detail = '' }: Call) =>
  outcome === 'invalid_token' && fault === undefined && withToken.includes(operation) && !EMPTY_INPUT.test(detail)

/** Was the token valid when the site sent it, because the examiner has stood still meanwhile? */
const isLate = ({ platform }: Stage, { call, at }: Trace): boolean => {
  const [, seconds] = /expired (\d+) s ago/.exec(String(call?.detail)) ?? []
  return Number(seconds) < platform.pulse.secondsBefore(at)
}

/** Returns the refused calls of an operation as a sentence, with the platform's first and last reason. */
function refusedCalls(operation: string, calls: readonly Call[]): string {
  const reasons = [calls[0]?.detail, calls[calls.length - 1]?.detail].filter((detail) => detail !== undefined)
  return `${calls.length} × ${operation} (${[...new Set(reasons)].join(' … ')})`
}

/** Logs in and out, so that there are calls also if the check runs alone. Then looks at every call of the site. */
const valid: Check = {
  name: 'calls/valid-tokens',
  isLast: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.login(browser)
    await stage.logout(browser)
    const calls = stage.platform.calls(0)
    need(calls.length > 0, 'the site has called no operation')
    const refused = calls.filter((one) => isRefusedToken(one.call) && !isLate(stage, one)).map(({ call }) => call)
    if (refused.length === 0) return passed()
    const operations = [...new Set(refused.map(({ operation }) => operation))]
    const sentences = operations.map((operation) =>
      refusedCalls(
        operation,
        refused.filter((call) => call.operation === operation),
      ),
    )
    return warning(`the platform refused the request token of the site: ${sentences.join('; ')}`)
  },
}

/** Looks at the address and the User-Agent in every call about a user's session. */
const device: Check = {
  name: 'calls/device',
  isLast: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.login(browser)
    await stage.logout(browser)
    const { sessions } = stage.platform.runtime.world
    const calls = stage.platform
      .calls(0)
      .filter(({ call, sid }) => call.operation === 'logoutall' || (sid !== null && sessions.has(sid)))
      .filter(({ call }) => withToken.includes(call.operation) && call.operation !== 'identify')
    need(calls.length > 0, 'the site has made no call about a session')
    const problems = calls.flatMap(({ call: { operation, claims } }) => {
      const { ipa, uas } = claims
      return problemsIn([
        [isIP(String(ipa)) === 0, `ipa of ${operation} is ${JSON.stringify(ipa)}, and no address of a browser`],
        [
          uas !== USER_AGENT && !OTHER_AGENT.test(String(uas)),
          `uas of ${operation} is ${JSON.stringify(uas)}, and not the User-Agent of the browser`,
        ],
      ])
    })
    return noneOf([...new Set(problems)].slice(0, 5))
  },
}

/** User agents that checks send instead of the usual one, and what sites write if there is none. */
const OTHER_AGENT = /Googlebot|bingbot|^(?:|-|none|unknown)$/i

export const callChecks: readonly Check[] = [userAddress, secretsInOutput, device, valid]
