/** Logins of several browsers: none may get what belongs to another, or be shut out by the failures of another. */
import type { Browser } from '../browser'
import { type Check, type Finding, failed, failedIf, need, noneOf, passed, warning } from '../check'
import { outcomeOf } from '../outcome'
import type { Account } from '../platform'
import { isLoopbackHost } from '../request'
import { pause, type Stage } from '../stage'

/** Sends a wrong password under a username whose login is in progress in another browser. */
export const sameUsername: Check = {
  name: 'login/same-username',
  run: async (stage) => {
    const [owner, other] = [stage.browser(), stage.browser()]
    const account = stage.account()
    const { form } = await stage.loginForm(owner)
    const { form: otherForm } = await stage.loginForm(other)
    const end = stage.platform.fault(['authenticate'], { kind: 'slow', ms: 500 })
    const login = stage.submit(owner, form, account)
    await pause(100)
    await stage.submit(other, otherForm, { ...account, password: `${account.password}-wrong` })
    await login
    end()
    need(await stage.isKnown(owner, account), 'a login with the right password did not work')
    return failedIf(
      await stage.isKnown(other, account),
      'while a user logs in, another browser sends the same username with a wrong password, and is logged in as the user',
    )
  },
}

/** A browser, and the account that it has logged in. */
type Reader = readonly [browser: Browser, account: Account]

/** Logs two accounts in, while token endpoint and REST API are slow. */
export async function logInAtOnce(stage: Stage): Promise<readonly [Reader, Reader]> {
  const readers: readonly [Reader, Reader] = [
    [stage.browser(), stage.account()],
    [stage.browser(), stage.account()],
  ]
  const logins: (() => Promise<unknown>)[] = []
  for (const [browser, account] of readers) {
    const { form } = await stage.loginForm(browser)
    logins.push(() => stage.submit(browser, form, account))
  }
  const end = stage.platform.fault(['token', 'me'], { kind: 'slow', ms: 400 })
  await Promise.all(logins.map((logIn) => logIn()))
  end()
  return readers
}

const PAGES_AT_ONCE = 6

/** Logs two users in at once. Each must see the own name, also on pages that load at once. */
export const twoUsers: Check = {
  name: 'login/two-users',
  run: async (stage) => {
    const [first, second] = await logInAtOnce(stage)
    const pairs = [[...first, ...second] as const, [...second, ...first] as const]
    const problems: string[] = []
    for (const [browser, account, , other] of pairs) {
      const page = await stage.visit(browser, stage.site.userPage)
      if (stage.showsOther(page, other)) problems.push('one of two users who log in at once is shown as the other')
      else need(stage.shows(page, account), 'one of two logins at once did not work')
    }
    return noneOf([...problems, ...(await pagesAtOnce(stage, pairs))])
  },
}

/** Opens pages of two users at once, some times. Returns the problem if one is shown as the other. */
async function pagesAtOnce(stage: Stage, pairs: readonly (readonly [...Reader, ...Reader])[]): Promise<string[]> {
  const looks = pairs.flatMap(([browser, , , other]) =>
    Array.from({ length: PAGES_AT_ONCE }, async () => stage.showsOther(await stage.look(browser), other)),
  )
  const isMixedUp = (await Promise.all(looks)).includes(true)
  return isMixedUp ? ['a page that loads while the page of another user loads shows the other user'] : []
}

const GUESSES = 8
/** Address of this machine from which the wrong passwords come, so that a limit of the site by address holds for them alone. */
const GUESSER = '127.0.0.3'

/** Sends wrong passwords for one account from another address. Afterwards, all others must be able to log in. */
export const otherVisitors: Check = {
  name: 'login/other-visitors',
  run: async (stage) => {
    const { usernameField, passwordField } = stage.site
    const owner = stage.account()
    const { username } = owner
    const own = stage.browser()
    await stage.login(own, owner)
    await stage.logout(own)
    const guesser = stage.browser()
    if (isLoopbackHost(new URL(stage.site.url).hostname)) guesser.address = GUESSER
    const probe = await stage.look(guesser, stage.site.loginPage)
    if (probe.status === 0) guesser.address = undefined
    const since = Date.now()
    for (let count = 0; count < GUESSES; count += 1) {
      const { form } = await stage.loginForm(guesser)
      await guesser.submit(form, { [usernameField]: username, [passwordField]: `guess ${count}` })
    }
    const guesses = stage.platform.calls(since, { operation: 'authenticate' })
    need(guesses.length > 0, 'the site did not call Authenticate')
    const visitor = stage.browser()
    const account = stage.account()
    const { form } = await stage.loginForm(visitor)
    const page = await visitor.submit(form, { [usernameField]: account.username, [passwordField]: account.password })
    if (await stage.isShown(visitor, account)) return lockedOutFinding(stage, own, owner)
    const isApart = guesses.every(({ call }) => String(call.claims['ipa']).endsWith(GUESSER))
    need(isApart, 'the site does not see from which address a login comes, so a limit by address may be the cause')
    return failed(
      `after ${GUESSES} wrong passwords for one account, another user at another address cannot log in with the right password (${outcomeOf(page)}): the site counts the failures of all accounts together`,
    )
  },
}

/**
 * Logs the owner of the account in, whom the platform does not lock any more, in the browser of an earlier login.
 * Did the guesses lock the account at the site?
 */
async function lockedOutFinding(stage: Stage, browser: Browser, owner: Account): Promise<Finding> {
  stage.platform.control(owner).unfreeze()
  const { form } = await stage.loginForm(browser)
  const since = Date.now()
  await browser.submit(form, {
    [stage.site.usernameField]: owner.username,
    [stage.site.passwordField]: owner.password,
  })
  const isAsked = stage.platform.calls(since, { operation: 'authenticate' }).length > 0
  if (isAsked || (await stage.isShown(browser, owner))) return passed()
  return warning(
    `after ${GUESSES} wrong passwords from one address, the site itself refuses the right password from another address, in a browser that its user has logged in before: its limit counts by the username alone`,
    'Anybody can lock any user out, for as long as the limit of the site lasts.',
  )
}

/** Spellings of a username that are the same name for most platforms. */
const spellingsOf = (name: string): readonly string[] => [
  name,
  name.toUpperCase(),
  ` ${name}`,
  `${name} `,
  name.charAt(0).toUpperCase() + name.slice(1),
  `\u200b${name}`,
  String.fromCharCode(name.charCodeAt(0) + 0xfee0) + name.slice(1), // a wide letter
  `${name}\t`,
]

/**
 * Sends wrong passwords for one account, each from a browser of its own.
 * @returns how many of them reach the platform
 */
async function guessesSent(stage: Stage, way: 'in turn' | 'at once' | 'spelt differently'): Promise<number> {
  const { usernameField, passwordField } = stage.site
  const { username } = stage.account()
  const guesses: (() => Promise<unknown>)[] = []
  for (let count = 0; count < GUESSES; count += 1) {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const typed = (way === 'spelt differently' && spellingsOf(username)[count]) || username
    guesses.push(() => browser.submit(form, { [usernameField]: typed, [passwordField]: `guess ${count}` }))
  }
  const since = Date.now()
  if (way === 'at once') {
    const end = stage.platform.fault(['authenticate'], { kind: 'slow', ms: 300 })
    await Promise.all(guesses.map((guess) => guess()))
    end()
  } else for (const guess of guesses) await guess()
  return stage.platform.calls(since, { operation: 'authenticate' }).length
}

/** Guesses passwords of one account one after the other, and of another account all at once. A limit of the site must count both. */
export const guessesAtOnce: Check = {
  name: 'login/guesses-at-once',
  isLast: true,
  run: async (stage) => {
    const inTurn = await guessesSent(stage, 'in turn')
    need(inTurn > 0, 'the site did not call Authenticate')
    const atOnce = await guessesSent(stage, 'at once')
    const sentence = `of ${GUESSES} wrong passwords for an account, ${inTurn} reach the platform one after the other`
    if (atOnce > inTurn) return failed(`${sentence}, and ${atOnce} at once: the limit counts an attempt too late`)
    const spelt = inTurn < GUESSES ? await guessesSent(stage, 'spelt differently') : 0
    return spelt <= inTurn
      ? passed()
      : warning(
          `${sentence}, and ${spelt} if the username is spelt in another way each time (capitals, spaces, wide letters): the limit counts each spelling apart`,
        )
  },
}
