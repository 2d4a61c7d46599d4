/** Checks that judge all that a run has seen: the output of the site, names on pages, secrets in pages, and `ipa`. */
import type { EmulatedOperation } from '../../emulator/faults/rules'
import type { Browser } from '../browser'
import { type Check, failed, need, noneOf, notApplicable, type Problem, problemsIn, warning } from '../check'
import { isLoopbackHost } from '../request'
import { kindOf, linesWith, tokensIn } from '../secrets'
import { PASSWORD } from '../seen'
import type { Stage } from '../stage'
import { NOT_STARTED, sendOldForm } from './passwords'
import { lookAround } from './session'

/** A word that may be an access token. */
const LONG_WORD = /[\w-]{30,}/g

/** Sentences of one verdict. A site may print thousands of secrets. */
const MAX_SHOWN = 5

/** Logs in and out, and then reads the whole output. */
export const secretsInOutput: Check = {
  name: 'calls/secrets-in-output',
  isLast: true,
  run: async (stage) => {
    if (stage.run.siteOutput === undefined) return notApplicable(NOT_STARTED)
    const browser = stage.browser()
    await stage.login(browser)
    const cookies = browser.cookies.of(new URL(stage.site.url)).filter(({ value }) => value.length >= 16)
    await stage.logout(browser)
    const output = stage.run.siteOutput()
    const { seen } = stage.run
    const { runtime, site } = stage.platform
    const secrets: [string, string][] = [
      ['the client secret', site.clientSecret],
      ...cookies.map(({ name, value }): [string, string] => [`the value of the cookie ${name}`, value]),
      ...(output.match(LONG_WORD) ?? [])
        .filter((word) => runtime.world.accessTokens.has(word))
        .slice(0, MAX_SHOWN)
        .map((token): [string, string] => ['an access token', token]),
      ...(PASSWORD.exec(output) ?? []).map((password): [string, string] => ['a password', password]),
      ...(output.match(/[^\s;=,"']{20,}/g) ?? [])
        .filter((value) => seen.cookieValues.has(value))
        .slice(0, MAX_SHOWN)
        .map((value): [string, string] => [`the value of the cookie ${seen.cookieValues.get(value)}`, value]),
    ]
    const found = secrets.flatMap(([name, secret]) =>
      linesWith(output, secret)
        .slice(0, 1)
        .map((line) => ({ name, secret, line })),
    )
    const tokens = tokensIn(output).map(({ token, claims, line }) => ({ name: kindOf(claims), secret: token, line }))
    const shown = [...found, ...tokens].slice(0, MAX_SHOWN) // the search for a request takes long
    return noneOf(
      shown.map(({ name, secret, line }) => `${name} is in the site's output${seen.printedDuring(secret)}: ${line}`),
    )
  },
}

/** Looks at the pages of a user, and at all pages that other checks have seen. */
export const escapedName: Check = {
  name: 'session/escaped-name',
  needsNames: true,
  isLast: true,
  run: async (stage) => {
    const browser = stage.browser()
    const account = await stage.login(browser)
    const pages = await lookAround(stage, browser)
    need(
      pages.some((page) => stage.shows(page, account)),
      'no page shows the user after the login',
    )
    await sendOldForm(stage, 'examined')
    return noneOf(
      stage.run.seen.unescaped.map(
        (path) => `${path} has the name of a user as markup: ${account.name} <b>O'Neil</b> is not escaped`,
      ),
    )
  },
}

export const tokensStayOnServer: Check = {
  name: 'session/tokens-stay-on-server',
  isLast: true,
  run: async (stage) => {
    const browser = stage.browser()
    await stage.login(browser)
    await lookAround(stage, browser)
    return noneOf(stage.run.seen.secrets)
  },
}

/** Addresses of this machine, and of documentation (RFC 5737). */
const OTHER_LOOPBACK = '127.0.0.2'
const [FORGED, PROXIED] = ['198.51.100.66', '203.0.113.9']

const forgedAddresses: readonly (readonly [string, Record<string, string>])[] = [
  ['the first address of X-Forwarded-For, or the whole header', { 'x-forwarded-for': `${FORGED}, ${PROXIED}` }],
  [
    'the address of a header such as X-Real-IP or Forwarded',
    {
      'x-real-ip': FORGED,
      'x-client-ip': FORGED,
      'cf-connecting-ip': FORGED,
      'true-client-ip': FORGED,
      forwarded: `for=${FORGED}`,
    },
  ],
]

/** Returns `ipa` of the latest call of an operation. */
const latestIpa = (stage: Stage, operation: EmulatedOperation, since: number) =>
  stage.platform.calls(since, { operation }).at(-1)?.call.claims['ipa']

/** Logs in, and returns the `ipa` of Authenticate and of Logout. */
async function ipasOf(stage: Stage, browser: Browser, headers: Record<string, string>): Promise<[string, unknown][]> {
  const since = Date.now()
  const { form } = await stage.loginForm(browser)
  const account = stage.account()
  await stage.submit(browser, form, account, { headers })
  need(await stage.isShown(browser, account), `a login from ${browser.address ?? 'this machine'} did not work`)
  await browser.submit(await stage.logoutForm(browser), {}, { headers })
  const operations: readonly EmulatedOperation[] = ['authenticate', 'logout']
  return operations
    .map((operation): [string, unknown] => [operation, latestIpa(stage, operation, since)])
    .filter(([, ipa]) => ipa !== undefined)
}

const plainAddress = (ipa: unknown) => String(ipa).replace(/^::ffff:/, '')

/** The address must be that of the browser, and not what the browser writes into a header. */
export const userAddress: Check = {
  name: 'calls/user-address',
  run: async (stage) => {
    for (const [name, headers] of forgedAddresses) {
      const forged = await ipasOf(stage, stage.browser(), headers)
      need(forged.length > 0, 'the site called neither Authenticate nor Logout')
      const believed = forged.filter(([, ipa]) => String(ipa).includes(FORGED))
      if (believed.length > 0)
        return failed(
          `ipa of ${believed.map(([operation]) => operation).join(' and ')} is ${name}, which the browser writes`,
        )
    }
    if (!isLoopbackHost(new URL(stage.site.url).hostname)) return noneOf([])
    const browser = stage.browser()
    browser.address = OTHER_LOOPBACK
    const probe = await stage.look(browser, stage.site.loginPage)
    if (probe.error === 'EADDRNOTAVAIL') return noneOf([])
    return addressFinding(await ipasOf(stage, browser, {}))
  },
}

/** Judges the `ipa` of a browser on another address of this machine. A container or a proxy between may hide the address. */
function addressFinding(ipas: readonly [string, unknown][]) {
  const wrong = ipas.filter(([, ipa]) => plainAddress(ipa) !== OTHER_LOOPBACK)
  const sentences = wrong.map(
    ([operation, ipa]) => `ipa of ${operation} is ${String(ipa)}, and the browser is at ${OTHER_LOOPBACK}`,
  )
  const isHidden = wrong.some(([, ipa]) => /^(?:10|172|192)\./.test(plainAddress(ipa)))
  if (isHidden) return warning(`${sentences.join('; ')}: a container or a proxy stands between, or ipa is constant`)
  return noneOf(problemsIn(sentences.map((sentence): Problem => [true, sentence])))
}
