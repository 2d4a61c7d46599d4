/**
 * Group `landing`, flows at the landing page (the callback URL).
 * Checks foreign tokens, reused tokens, open redirects, prefetches, and traces of the token.
 */
import { type Check, failed, need, noneOf, passed } from '../check'
import type { Stage } from '../stage'
import { arrive, needGenuine } from './landing'

const loginCsrf: Check = {
  name: 'landing/login-csrf',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    const victims: readonly [string, (stage: Stage) => Promise<ReturnType<Stage['browser']>>][] = [
      ['that was never here', async () => stage.browser()],
      [
        'that has visited the site',
        async () => {
          const browser = stage.browser()
          await stage.visit(browser)
          return browser
        },
      ],
    ]
    for (const [name, prepare] of victims) {
      const { account: attacker, address } = await arrive(stage)
      const victim = await prepare(stage)
      await stage.openHere(victim, address.href)
      if (await stage.isKnown(victim, attacker))
        problems.push(`a browser ${name} is logged in as the attacker by the attacker's landing address`)
    }
    return noneOf(problems)
  },
}

const replaySame: Check = {
  name: 'landing/replay-after-logout',
  run: async (stage) => {
    const { browser, account, address } = await arrive(stage)
    await stage.openHere(browser, address.href)
    need(await stage.isKnown(browser, account), 'the genuine token did not log its user in')
    const again = await stage.openHere(browser, address.href)
    if (again.status >= 500 || again.status === 0)
      return failed(`a reload of the landing address ends with ${again.status || again.error}`)
    if (!(await stage.isShown(browser, account))) return failed('a reload of the landing address logs the user out')
    await stage.logout(browser)
    need(!(await stage.isKnown(browser, account)), 'the logout did not work')
    await stage.openHere(browser, address.href)
    return (await stage.isKnown(browser, account))
      ? failed('after the logout, the old landing address logs the user in again')
      : passed()
  },
}

const replayOther: Check = {
  name: 'landing/replay-elsewhere',
  run: async (stage) => {
    const { browser, account, address } = await arrive(stage)
    await stage.openHere(browser, address.href)
    need(await stage.isKnown(browser, account), 'the genuine token did not log its user in')
    const thief = stage.browser()
    await stage.openHere(thief, address.href)
    return (await stage.isKnown(thief, account)) ? failed('a used landing address logs in a second browser') : passed()
  },
}

const hostile = [
  'https://attacker.invalid/',
  '//attacker.invalid/',
  '/\\attacker.invalid/',
  '\\\\attacker.invalid/',
  'https:attacker.invalid/',
  'https:///attacker.invalid/',
  '/\t/attacker.invalid/',
  '/%09/attacker.invalid/',
  '%2F%2Fattacker.invalid%2F',
  '%252F%252Fattacker.invalid%252F',
  '/%2F%2Fattacker.invalid/',
  '/%252F%252Fattacker.invalid/',
  'javascript:alert(1)//attacker.invalid',
]

/** Returns addresses of the attacker that begin like the site's address. */
const lookalikes = (site: URL) => [
  `${site.protocol}//${site.host}@attacker.invalid/`,
  `${site.protocol}//${site.host}.attacker.invalid/`,
  `${site.protocol}//${site.host}\\@attacker.invalid/`,
]

const openRedirect: Check = {
  name: 'landing/open-redirect',
  run: async (stage) => {
    await needGenuine(stage)
    const problems: string[] = []
    for (const target of [...hostile, ...lookalikes(new URL(stage.site.url))]) {
      const browser = stage.browser()
      const address = await stage.landing(browser)
      address.searchParams.set('r', target)
      const isOut = (url: URL) => /attacker\.invalid$/.test(url.hostname) || url.protocol === 'javascript:'
      const page = await browser.open(address.href, { stopAt: (url) => isOut(url) || stage.platform.isIdentify(url) })
      if (page.next !== undefined && isOut(new URL(page.next)))
        problems.push(`r=${JSON.stringify(target)} leads to ${new URL(page.next).href}`)
      else if (page.status >= 500) problems.push(`r=${JSON.stringify(target)} responds ${page.status}`)
    }
    return noneOf(problems)
  },
}

const consumesNothing: Check = {
  name: 'landing/prefetch',
  run: async (stage) => {
    const variants: readonly [string, Record<string, string>, string][] = [
      ['a HEAD request', {}, 'HEAD'],
      ['a prefetch', { 'sec-purpose': 'prefetch', purpose: 'prefetch' }, 'GET'],
    ]
    await needGenuine(stage)
    const problems: string[] = []
    for (const [name, headers, method] of variants) {
      const { browser, account, address } = await arrive(stage)
      // the response and its cookies are dropped, as a link scanner or a prefetch drops them
      await stage.openHere(browser.copy('Browser A, thrown away'), address.href, { method, headers })
      await stage.openHere(browser, address.href)
      if (!(await stage.isKnown(browser, account)))
        problems.push(`after ${name} of the landing address, its user cannot land`)
    }
    return noneOf(problems)
  },
}

const leavesNothing: Check = {
  name: 'landing/leaves-nothing',
  run: async (stage) => {
    const { browser, account, address, claims } = await arrive(stage)
    const token = address.searchParams.get('t') ?? ''
    const page = await browser.open(address.href)
    need(
      stage.shows(page, account) || (await stage.isKnown(browser, account)),
      'the genuine token did not log its user in',
    )
    const cookies = browser.cookies.of(new URL(stage.site.url)).map(({ value }) => decodeURIComponent(value))
    const secrets: readonly [string, string][] = [
      ['the token', token],
      ['the ticket', String(claims['at'])],
      ['the SSO session ID', String(claims['sid'])],
    ]
    const plain = (text: string) => `${text} ${Buffer.from(text, 'base64').toString('latin1')}`
    return noneOf(
      secrets.flatMap(([name, secret]) => [
        ...(page.url.href.includes(secret) ? [`${name} stays in the address`] : []),
        ...(page.text.includes(secret) ? [`${name} is in the page`] : []),
        ...(cookies.some((value) => plain(value).includes(secret)) ? [`${name} is in a cookie`] : []),
      ]),
    )
  },
}

export const landingFlowChecks: readonly Check[] = [
  loginCsrf,
  replaySame,
  replayOther,
  openRedirect,
  consumesNothing,
  leavesNothing,
]
