/** Checks `login/any-password` and `login/escaped-input`: what users type must arrive, and must not become part of a page. */
import type { Page } from '../browser'
import { advised, type Check, failedIf, need, noneOf, notApplicable, problemsIn } from '../check'
import { isServerError, outcomeOf, responseOf } from '../outcome'
import type { Account } from '../platform'
import { splitText } from '../split'
import type { Stage } from '../stage'
import { loginParameters } from './return-address'

/** The reason why a check of the output does not apply. */
export const NOT_STARTED = 'the examiner reads the output of a site only if it starts the site itself'

/** Passwords that sites change on their way: the description, and the password made of an ordinary one. */
const oddPasswords: readonly [name: string, make: (password: string) => string][] = [
  ['a space at its beginning', (password) => ` ${password}`],
  ['a space at its end', (password) => `${password} `],
  ['two spaces inside', (password) => `${password}  end`],
  ['the sign +', (password) => `${password}+a+b`],
  ['the signs % and %41', (password) => `${password}%41%`],
  ['the signs & and =', (password) => `${password}&a=b`],
  ['letters beyond ASCII (Ä, Ł, €)', (password) => `${password}ÄŁ€`],
  ['letters that Unicode can write in two ways (a and ¨, ﬁ, ２)', (password) => `${password}a\u0308\ufb01\uff12`],
  ['quotes, < and \\', (password) => `${password}<'"\\>`],
  ['100 characters', (password) => password.padEnd(100, 'x')],
]

/** Can the account log in with the form of the site? */
async function canLogIn(stage: Stage, account: Account): Promise<boolean> {
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  await stage.submit(browser, form, account)
  return stage.isShown(browser, account)
}

/** Logs the user with odd letters in. Returns the problems of what was typed, and of what is shown. */
async function oddUser(stage: Stage): Promise<{ typed: string[]; shown: string[] }> {
  const { oddAccount } = stage.platform
  const { name, username } = oddAccount
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  await stage.submit(browser, form, oddAccount)
  const { words, status, text } = await stage.visit(browser, stage.site.userPage)
  const [first] = splitText(name, ' ')
  const isIn = stage.shows({ status, text: `${text} ${words}` }, oddAccount) || words.includes(first)
  const isOther = words.includes(first) && !words.includes(name)
  return {
    typed: problemsIn([[!isIn, `the username ${username} does not arrive as it was typed: its user cannot log in`]]),
    shown: problemsIn([
      [isOther, `the name ${name} is shown with other letters: it is not read, or not sent, as UTF-8`],
    ]),
  }
}

const NAME_EFFECT = 'Users whose name has letters such as ä are shown a name that is not theirs.'
const NAME_FIX =
  'JSON of the REST API is UTF-8, and so are your pages: say charset=utf-8, and convert the name nowhere. A name that has become Ã¤ for ä was converted from Latin-1 to UTF-8 once more.'

export const anyPassword: Check = {
  name: 'login/any-password',
  run: async (stage) => {
    const account = stage.account()
    need(await canLogIn(stage, account), 'a login with an ordinary password did not work')
    const problems: string[] = []
    const control = stage.platform.control(account)
    for (const [name, make] of oddPasswords) {
      const password = make(account.password)
      control.set({ password })
      const isIn = await canLogIn(stage, { ...account, password })
      stage.tried(`a password with ${name}: ${isIn ? 'logged in' : 'refused'}`)
      if (!isIn) problems.push(`a password with ${name} does not arrive as it was typed: its user cannot log in`)
      control.unfreeze()
    }
    const { typed, shown } = await oddUser(stage)
    return noneOf([...problems, ...typed, ...advised(shown, { effect: NAME_EFFECT, fix: NAME_FIX })])
  },
}

const INJECTED = 'examined-line-of-an-attacker'

/** Types a username of two lines. The second one must not become a line of the log. */
export const logInjection: Check = {
  name: 'login/log-injection',
  run: async (stage) => {
    if (stage.run.siteOutput === undefined) return notApplicable(NOT_STARTED)
    need(await canLogIn(stage, stage.account()), 'a login with an ordinary password did not work')
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    await stage.submit(browser, form, { username: `examined\r\n${INJECTED}`, password: 'not-the-password' })
    const { landing, loginPage, returnField = 'next', url } = stage.site
    const line = encodeURIComponent(`\r\n${INJECTED}`)
    const addresses = [
      `${loginPage}?${returnField}=/${line}`,
      `${landing}?t=${line}&r=${line}`,
      `${url}/examined${line}`,
    ]
    for (const address of addresses) await stage.openHere(browser, address)
    const lines = stage.run.siteOutput().split(/\r\n|\n|\r/)
    return failedIf(
      lines.some((line) => line.startsWith(INJECTED)),
      'a username or an address with a line break begins a line of its own in the output of the site',
    )
  },
}

const MARKUP = '<b>examined</b>'
const ODD_INPUT = `" data-examined="'>${MARKUP}`
/** The odd input as an attribute of a tag, because its quotes are not escaped. */
const OPEN_ATTRIBUTE = /<[^<>]*\sdata-examined="/

/** Sends the login form without its fields, and with lists. Returns the problems. */
async function oddForms(stage: Stage): Promise<string[]> {
  const { usernameField, passwordField } = stage.site
  const tries: [string, Record<string, string>][] = [
    ['a login without username and password', {}],
    ['a login with a username of 100,000 signs', { [usernameField]: 'x'.repeat(100_000), [passwordField]: 'x' }],
    ['a login with the sign NUL', { [usernameField]: 'examined\0', [passwordField]: '\0' }],
    ['a login with lists', { [`${usernameField}[]`]: 'examined', [`${passwordField}[]`]: 'examined' }],
  ]
  const problems: string[] = []
  for (const [name, fields] of tries) {
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const bare = { ...form, fields: form.fields.filter(({ type }) => type === 'hidden') }
    const page = await browser.submit(bare, fields)
    stage.tried(`${name}: ${outcomeOf(page)}`)
    if (isServerError(page) && page.status !== 503) problems.push(`${name} ends in ${outcomeOf(page)}`)
  }
  return problems
}

/** Sends the login form of an older tab with another username, after the user has logged in. */
export async function sendOldForm(stage: Stage, username: string): Promise<Page> {
  const browser = stage.browser()
  const { form } = await stage.loginForm(browser)
  await stage.login(browser)
  return stage.submit(browser, form, { username, password: 'not-the-password' })
}

export const escapedInput: Check = {
  name: 'login/escaped-input',
  run: async (stage) => {
    const { loginPage, publicPage, returnField, usernameField } = stage.site
    need(await canLogIn(stage, stage.account()), 'a login with an ordinary password did not work')
    const browser = stage.browser()
    const { form } = await stage.loginForm(browser)
    const typed = { username: ODD_INPUT, password: 'not-the-password' }
    const back = `/${ODD_INPUT}`
    const fields = returnField === undefined ? {} : { fields: { [returnField]: back } }
    const refused = await stage.submit(browser, form, typed, fields)
    need(refused.status !== 0 && refused.status < 500, `a login with an odd username ${responseOf(refused)}`)
    const places = [{ name: `the page after a login with the username ${ODD_INPUT}`, page: refused }]
    places.push({
      name: `the page after an old login form of a logged-in user with the username ${ODD_INPUT}`,
      page: await sendOldForm(stage, ODD_INPUT),
    })
    const parameters = await loginParameters(stage)
    const tries: [string, string, string][] = [
      ...parameters.map((name): [string, string, string] => [loginPage, name, back]),
      [loginPage, usernameField, ODD_INPUT],
      [loginPage, 'error', ODD_INPUT],
      [publicPage, 'examined', ODD_INPUT],
      [`${stage.site.url}/examined-not-there`, 'examined', ODD_INPUT],
      [`${stage.site.url}/examined-${encodeURIComponent(ODD_INPUT)}`, 'examined', '1'],
    ]
    for (const [address, name, value] of tries) {
      const url = new URL(address)
      url.searchParams.set(name, value)
      places.push({ name: `GET ${url.pathname}?${name}=${value}`, page: await stage.visit(browser, url.href) })
    }
    for (const { name, page } of places) stage.tried(`${name}: ${outcomeOf(page)}`)
    const isMarkup = ({ text, headers }: Page) =>
      (text.includes(MARKUP) || OPEN_ATTRIBUTE.test(text)) && /html/i.test(headers['content-type'] ?? 'html')
    const unescaped = places.filter(({ page }) => isMarkup(page))
    return noneOf([
      ...unescaped.map(({ name }) => `${name} has the text as markup: it is not escaped`),
      ...(await oddForms(stage)),
    ])
  },
}
