/** Check `outage/health-page`: what a load balancer asks must not depend on the platform. */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import { type Check, failed, notApplicable, passed, warning } from '../check'
import { responseOf } from '../outcome'
import type { Stage } from '../stage'
import { loginAttempts } from './login-attempts'

/** Usual addresses. Those of the second list say whether the site is ready for requests, and not whether it lives. */
const LIVE = ['/healthz', '/health', '/livez', '/live', '/health/live', '/ping', '/up', '/_health', '/actuator/health']
const READY = ['/readyz', '/ready', '/health/ready', '/status']

const PROBE = { accept: '*/*', 'user-agent': 'kube-probe/1.30', 'sec-fetch-dest': '', 'sec-fetch-mode': '' }
const everything: readonly EmulatedOperation[] = ['authenticate', 'sessionstatus', 'logout', 'token', 'me']
const LOGINS = 3

const ask = (stage: Stage, path: string) => stage.openHere(stage.browser(), stage.site.url + path, { headers: PROBE })

/** Asks the usual health pages before and while the platform fails, after some logins that fail. */
export const healthPage: Check = {
  name: 'outage/health-page',
  isRough: true,
  run: async (stage) => {
    await stage.login(stage.browser())
    const missing = await ask(stage, '/examined-page-that-does-not-exist')
    const found: string[] = []
    for (const path of [...LIVE, ...READY]) {
      const { status, next, words } = await ask(stage, path)
      const isOfAnyAddress = missing.status === 200 && words === missing.words
      if (status === 200 && next === undefined && !isOfAnyAddress) found.push(path)
    }
    if (found.length === 0) return notApplicable('no health page was found at the usual addresses')
    const tryLogin = await loginAttempts(stage)
    const end = stage.platform.fault(everything, { kind: 'status', code: 503 })
    for (let count = 0; count < LOGINS; count += 1) await tryLogin()
    const problems: [path: string, sentence: string][] = []
    for (const path of found) {
      const page = await ask(stage, path)
      if (page.status !== 200) problems.push([path, `while the platform fails, ${path} ${responseOf(page)}`])
    }
    end()
    const sentence = problems.map(([, one]) => one).join('; ')
    if (problems.length === 0) return passed()
    return problems.some(([path]) => LIVE.includes(path)) ? failed(sentence) : warning(sentence)
  },
}
