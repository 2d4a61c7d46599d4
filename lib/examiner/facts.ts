/** Defines the facts about a site. `examine.json` gives them, or the examiner discovers them. */
import type { Form } from './html'
import type { Account } from './platform'
import type { Settings } from './settings'

/** A site for the checks. All addresses are absolute. */
export interface SiteFacts {
  readonly url: string
  /** A page that visitors may see. */
  readonly publicPage: string
  /** A page that shows the logged-in user. */
  readonly userPage: string
  readonly loginPage: string
  readonly usernameField: string
  readonly passwordField: string
  readonly returnField: string | undefined
  readonly logout: LogoutWay
  /** The way to end all sessions of the user. */
  readonly logoutAll: LogoutWay | undefined
  readonly landing: string
  /** A page that calls the REST API for the user at each request. */
  readonly restUserPage?: string | undefined
  /** Does the first load of the public page redirect to Identify? */
  readonly isIdentifiedAlways: boolean
}

/** A way to log out: the page with the button, and the address of its form. */
export interface LogoutWay {
  readonly page: string
  readonly action: string
  readonly method: 'GET' | 'POST'
}

/**
 * Does a page show that the user is logged in?
 * Looks for a text of `examine.json`, or for the account's name, username or ID.
 */
export function showsUser(
  { text, status }: { readonly text: string; readonly status: number },
  { name, username, accountId }: Account,
  { loggedIn, loggedOut }: Pick<Settings, 'loggedIn' | 'loggedOut'>,
): boolean {
  if (loggedOut !== undefined && (status !== 200 || text.includes(loggedOut))) return false
  if (loggedIn !== undefined) return text.includes(loggedIn)
  return loggedOut !== undefined || [name, username, accountId].some((word) => text.includes(word))
}

const LOGOUT = /log.?out|sign.?out|log.?off/i
const EVERYWHERE = /\ball\b|everywhere|-all|all.?(?:devices|sessions)/i

/** Does the form or link log out of the current session? */
export const isLogout = (address: string, text: string): boolean =>
  LOGOUT.test(`${new URL(address).pathname} ${text}`) && !isLogoutAll(address, text)

/** Does the form or link log out of all sessions? */
export const isLogoutAll = (address: string, text: string): boolean =>
  LOGOUT.test(`${new URL(address).pathname} ${text}`) && EVERYWHERE.test(`${new URL(address).pathname} ${text}`)

/** Does the link point to a login page? */
export const isLogin = (address: string, text: string): boolean =>
  /log.?in|sign.?in|anmeld|logga|kirjaudu/i.test(`${new URL(address).pathname} ${text}`)

/** Does the form or link log in or out? */
export const isLoginOrLogout = (address: string, text: string): boolean =>
  [isLogin, isLogout, isLogoutAll].some((is) => is(address, text))

/** Returns the form that has a password field. */
export const loginFormOf = (forms: readonly Form[], passwordField?: string): Form | undefined =>
  forms.find(({ fields }) =>
    fields.some(({ type, name }) => (passwordField === undefined ? type === 'password' : name === passwordField)),
  )

/** Is the form sent to the address? Its query may be another one on each page. */
export const isSentTo = ({ action }: Pick<Form, 'action'>, address: string): boolean =>
  action.split('?')[0] === address.split('?')[0]

/** Is the field a hidden return address? */
export const isBackField = ({ type, name, value }: Form['fields'][number]): boolean =>
  type === 'hidden' && /return|next|redirect|back|continue|target|url/i.test(name) && !/token|csrf/i.test(name + value)

/** Finds the fields of a login form by their types. */
export function loginFields(form: Form): {
  username: string | undefined
  password: string | undefined
  back: string | undefined
} {
  const password = form.fields.findIndex(({ type }) => type === 'password')
  const before = form.fields.slice(0, password).filter(({ type }) => ['text', 'email', 'tel'].includes(type))
  const back = form.fields.find(isBackField)
  return { username: before[before.length - 1]?.name, password: form.fields[password]?.name, back: back?.name }
}
