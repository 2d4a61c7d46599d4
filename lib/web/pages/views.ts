/** The HTML of the built-in pages, in the language and look of the site, with every value escaped. */
import type { Request, Response } from 'express'
import type { Config } from '../../config'
import type { AllTexts, TextCode } from '../../config/texts/en'
import type { LoginError } from '../../decide/login'
import { contentSecurityPolicy, DEFAULT_COLOR, styleIn } from './style'

/** Context of every view. */
export interface PageContext {
  /** Value for the attribute `nonce` of scripts and styles. New for each response, and included in `contentSecurityPolicy`. */
  readonly nonce: string
}

/** Context of the login view. */
export interface LoginContext extends PageContext {
  /** Address for the form's POST, with the query of the page. A form without `action` also keeps the fragment. */
  readonly action: string
  /** Value of the hidden field `return_to`. */
  readonly returnTo: string
  /**
   * Address for the link "Go back": the page of the site that the user came from, or the front page. Never a page that needs a login.
   */
  readonly backUrl: string
  /** The username typed before. */
  readonly username: string
  /** A stable error code. `undefined` without an error. */
  readonly error: LoginError | undefined
  /** Text of the error, or of the notice about an ended session. */
  readonly message: string | undefined
  /** Attempts that are left, if the SSO system sent a number. The login limits may leave fewer. */
  readonly remainingAttempts: number | undefined
  /** Seconds until the platform unlocks the account, if the account is locked. */
  readonly frozenForSeconds: number | undefined
  /** Seconds until the site accepts the next attempt, if a login limit is reached. */
  readonly retryAfterSeconds: number | undefined
}

/** Context of the logout confirmation. */
export interface ConfirmLogoutContext extends PageContext {
  /** Address for the form's POST. */
  readonly action: string
  /** Value of the hidden field `return_to`. */
  readonly returnTo: string
  /** Does the form end all sessions of the account? */
  readonly isAll: boolean
}

/** Context of the problem page. */
export interface ProblemContext extends PageContext {
  /** HTTP status. */
  readonly status: number
  /** Code of the text, for example `page_unavailable`. */
  readonly code: string
  /** Text of the problem. */
  readonly message: string
  /** Address of the site's front page. */
  readonly homeUrl: string
  /** Address of the login page, where the request needs a login: for a link in a new tab, because a form may have been sent. */
  readonly loginUrl: string | undefined
  /** Can the user try again by a link to the address of the page (`href=""`)? */
  readonly canReload: boolean
  /** With `not_allowed`: address of the logout page, from which the user returns to log in with another account. */
  readonly otherAccountUrl: string | undefined
}

/** Context of each view, by the name of the view. */
export interface ViewContexts {
  /** The login page. Default: the built-in page. */
  readonly login: LoginContext
  /** The page that asks before a logout. Default: the built-in page. */
  readonly confirmLogout: ConfirmLogoutContext
  /** The page that says what went wrong. Default: the built-in page. */
  readonly problem: ProblemContext
}

/** Views of the site, which also get request and response: `req.session`, for example, has the basket for a header. A missing view is built in. */
export type CustomViews = {
  readonly [Name in keyof ViewContexts]?:
    | ((context: ViewContexts[Name], req: Request, res: Response) => string | Promise<string>)
    | undefined
}

/** The built-in pages, and their Content-Security-Policy. */
export interface BuiltInPages {
  readonly views: { readonly [Name in keyof ViewContexts]: (context: ViewContexts[Name]) => string }
  readonly policy: string
}

/** Makes the built-in pages, once for each site. */
export function builtInPages(config: Config): BuiltInPages {
  const style = styleIn(config.brand.color ?? DEFAULT_COLOR)
  const page: Page = { config, style, text: (code) => localizedText(config.texts, code) }
  return {
    views: {
      login: (context) => loginPage(page, context),
      confirmLogout: (context) => logoutPage(page, context),
      problem: (context) => problemPage(page, context),
    },
    policy: contentSecurityPolicy(style, config),
  }
}

/** Returns a text with `{attempts}`, `{minutes}` and `{hours}` replaced by their values. */
export function localizedText(texts: AllTexts, code: TextCode, values: Readonly<Record<string, number>> = {}): string {
  return texts[code].replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  )
}

/** Markup that is already escaped. */
class Html {
  constructor(readonly text: string) {}
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function renderValue(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(renderValue).join('')
  if (value === undefined || value === false) return ''
  return String(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** Template tag that escapes every value but `Html`. Arrays are joined. `undefined` and `false` become empty text. */
function html(parts: TemplateStringsArray, ...values: readonly unknown[]): Html {
  return new Html(parts.reduce((text, part, index) => text + renderValue(values[index - 1]) + part))
}

interface Page {
  readonly config: Config
  readonly style: string
  text(code: TextCode): string
}

/** Title and content of a page. */
interface Content {
  readonly title: string
  readonly main: Html
  /** Small links below the card. */
  readonly links: readonly (Html | undefined | false)[]
}

function whole(page: Page, { title, main, links }: Content): string {
  const { brand, language } = page.config
  const { stylesheetUrl } = brand
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${brand.name === undefined ? title : `${title} – ${brand.name}`}</title>
<style>${new Html(page.style)}</style>${stylesheetUrl && html`\n<link rel="stylesheet" href="${stylesheetUrl}">`}
</head>
<body>${pageHeader(page)}
<main>
${main}
</main>
${links.some(Boolean) && html`<footer>${links}</footer>`}
</body>
</html>
`.text
}

/** Returns the name or logo of the site, with a link to the front page. */
function pageHeader(page: Page): Html | undefined {
  const { brand, siteUrl } = page.config
  if (brand.name === undefined && brand.logoUrl === undefined) return undefined
  return html`\n<header class="brand"><a href="${`${siteUrl}/`}">${masthead(page)}</a></header>`
}

/** Returns the logo, or else the name. Dark pages have the dark logo, or else the name. A logo without a name stands on both. */
function masthead({ config, text }: Page): Html | string | undefined {
  const { name, logoUrl, logoDarkUrl } = config.brand
  if (logoUrl === undefined) return name
  const image = html`<img src="${logoUrl}" alt="${name ?? text('home')}">`
  if (logoDarkUrl !== undefined)
    return html`<picture><source srcset="${logoDarkUrl}" media="(prefers-color-scheme:dark)">${image}</picture>`
  if (name === undefined) return image
  return html`<span class="by-day">${image}</span><span class="by-night">${name}</span>`
}

/** The form has no `action`, so that the browser keeps query and fragment of the address. */
function loginPage(page: Page, context: LoginContext): string {
  const { error, returnTo, backUrl, message } = context
  const { text } = page
  const { links } = page.config
  const title = text('login_title')
  const isOnTheWay = error === undefined && returnTo !== backUrl // to another page than the one before, as after a guard
  return whole(page, {
    title: error === undefined ? title : `${text('error')} ${title}`,
    main: html`<h1>${isOnTheWay ? text('login_to_continue') : title}</h1>
${message && alert(message, kindOf(error), nextStep(page, context))}
<form method="post">
<input type="hidden" name="return_to" value="${returnTo}">
${usernameField(page, context)}
<div class="field">
<label for="password">${text('password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${invalid(context)}>
${link(links.forgotPassword, text('forgot_password'))}
</div>
<button type="submit">${text('login_button')}</button>
</form>
${links.createAccount && html`<p class="new">${text('new_here')} ${link(links.createAccount, text('create_account'))}</p>`}`,
    links: [link(links.help, text('help')), link(backUrl, text('back'))],
  })
}

function usernameField({ config: { loginName }, text }: Page, context: LoginContext): Html {
  const { username, message } = context
  const type = loginName === 'email' && html` type="email"`
  const focus = new Html(message === undefined ? ' autofocus' : ' aria-describedby="message"')
  return html`<div class="field">
<label for="username">${text('username')}</label>
<input id="username" name="username"${type} value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="256"${focus}${invalid(context)}>
</div>`
}

/** Marks the fields of which one is wrong. */
const invalid = ({ error }: LoginContext) => error === 'invalid_credentials' && new Html(' aria-invalid="true"')

const link = (address: string | undefined, text: string, kind?: string) =>
  address === undefined ? undefined : html`<a${kind && html` class="${kind}"`} href="${address}">${text}</a>`

/** A notice, an outage that says nothing about the password, or an error. */
type AlertKind = 'notice' | 'warning' | 'error'

function kindOf(error: LoginContext['error']): AlertKind {
  if (error === undefined) return 'notice'
  return error === 'unavailable' ? 'warning' : 'error'
}

const ICON_SHAPES: Readonly<Record<AlertKind, string>> = {
  notice: 'M10 1a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm1 13.500H9V9h2ZM11 7H9V5h2Z',
  warning: 'M10 1.500 19.500 18H.5Zm1 13.500H9v-2h2Zm0-3.500H9V7h2Z',
  error: 'M10 1a9 9 0 1 0 0 18 9 9 0 0 0 0-18Zm1 13.500H9v-2h2ZM11 11H9V5.500h2Z',
}

const alert = (message: string, kind: AlertKind, more: Html | undefined) =>
  html`<p class="alert ${kind}" role="alert" id="message" tabindex="-1" autofocus><svg viewBox="0 0 20 20" aria-hidden="true"><path fill="currentColor" fill-rule="evenodd" d="${ICON_SHAPES[kind]}"/></svg><span>${message}${more}</span></p>`

/** Returns the link of a user who cannot go on with the form. */
function nextStep(page: Page, { error, returnTo, retryAfterSeconds }: LoginContext): Html | undefined {
  const { config, text } = page
  const [address, code]: [string | undefined, TextCode] =
    error === 'session_already_logged_in_on_another_account'
      ? [logoutUrl(config, returnTo), 'logout_title']
      : [retryAfterSeconds === undefined ? undefined : config.links.forgotPassword, 'forgot_password']
  return address === undefined ? undefined : html` ${link(address, text(code))}`
}

/** Returns the address of the logout page, for a user who is logged in with another account. */
export const logoutUrl = ({ routes, siteUrl }: Config, returnTo: string) =>
  routes.logout === false ? undefined : `${siteUrl}${routes.logout}?return_to=${encodeURIComponent(returnTo)}`

function logoutPage(page: Page, { action, returnTo, isAll }: ConfirmLogoutContext): string {
  const { text } = page
  const title = text(isAll ? 'logout_all_title' : 'logout_title')
  return whole(page, {
    title,
    main: html`<h1>${title}</h1>
<p>${text(isAll ? 'logout_all_question' : 'logout_question')}</p>
<form method="post" action="${action}" class="buttons">
<input type="hidden" name="return_to" value="${returnTo}">
<button type="submit">${text(isAll ? 'logout_all_button' : 'logout_button')}</button>
${link(returnTo, text('cancel'), 'button quiet')}
</form>`,
    links: [],
  })
}

function problemPage(page: Page, context: ProblemContext): string {
  const { message, homeUrl } = context
  const { text } = page
  const title = text(problemTitle(context))
  const button = problemButton(page, context)
  const home = link(homeUrl, text('home'), button ? undefined : 'button quiet')
  return whole(page, {
    title,
    main: html`<h1>${title}</h1>
<p>${message}</p>
<p class="buttons">${button ?? home}</p>`,
    links: [button && home],
  })
}

function problemTitle({ status, code }: ProblemContext): TextCode {
  if (code === 'not_allowed') return 'no_access_title'
  if (status === 401) return 'logged_out_title'
  return status === 503 ? 'try_again_title' : 'problem_title'
}

/**
 * Returns what helps the user: to log in, to log in with another account, or to load the page again. The login opens in a new tab, so that the
 * page with a form, or with the frame, stays as it is. The login page then has no "Go back" to it.
 */
function problemButton({ text }: Page, { loginUrl, otherAccountUrl, canReload }: ProblemContext): Html | undefined {
  if (loginUrl !== undefined)
    return html`<a class="button" href="${loginUrl}" target="_blank" rel="noreferrer">${text('login_title')}</a>`
  if (otherAccountUrl !== undefined) return link(otherAccountUrl, text('other_account'), 'button')
  return canReload ? link('', text('try_again'), 'button') : undefined
}
