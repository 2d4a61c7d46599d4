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
  /** Address for the link "Go back": the page of the site that the user came from, or the front page. Never a page that needs a login. */
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
  const page = (content: Content) => whole(config, style, content)
  return {
    views: {
      login: (context) => page(loginPage(config, context)),
      confirmLogout: (context) => page(logoutPage(config, context)),
      problem: (context) => page(problemPage(config, context)),
    },
    policy: contentSecurityPolicy(style, config),
  }
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

/** Title and content of a page. */
interface Content {
  readonly title: string
  readonly main: Html
  /** Small links below the card. */
  readonly links: readonly (Html | undefined)[]
}

function whole(config: Config, style: string, { title, main, links }: Content): string {
  const { name, stylesheetUrl } = config.brand
  return html`<!doctype html>
<html lang="${config.language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${name === undefined ? title : `${title} – ${name}`}</title>
<style>${new Html(style)}</style>${stylesheetUrl && html`\n<link rel="stylesheet" href="${stylesheetUrl}">`}
</head>
<body>${pageHeader(config)}
<main>
${main}
</main>
${links.some(Boolean) && html`<footer>${links}</footer>`}
</body>
</html>
`.text
}

/**
 * Returns the logo of the site, or else the name, with a link to the front page. Dark pages have the dark logo, or else the name. A logo
 * without a name stands on both.
 */
function pageHeader({ brand, siteUrl, texts }: Config): Html | undefined {
  const { name, logoUrl, logoDarkUrl } = brand
  if (name === undefined && logoUrl === undefined) return undefined
  const image = logoUrl && html`<img src="${logoUrl}" alt="${name ?? texts.home}">`
  const byNight = logoDarkUrl && html`<source srcset="${logoDarkUrl}" media="(prefers-color-scheme:dark)">`
  const withName = name && html`<span class="by-day">${image}</span><span class="by-night">${name}</span>`
  const logo = byNight ? html`<picture>${byNight}${image}</picture>` : withName || image
  return html`\n<header class="brand"><a href="${`${siteUrl}/`}">${image ? logo : name}</a></header>`
}

/** The form has no `action`, so that the browser keeps query and fragment of the address. */
function loginPage(config: Config, context: LoginContext): Content {
  const { error, returnTo, backUrl, message } = context
  const { links, texts } = config
  const isOnTheWay = error === undefined && returnTo !== backUrl // to another page than the one before, as after a guard
  return {
    title: error === undefined ? texts.login_title : `${texts.error} ${texts.login_title}`,
    main: html`<h1>${isOnTheWay ? texts.login_to_continue : texts.login_title}</h1>
${message && alert(message, kindOf(error), nextStep(config, context))}
<form method="post">
<input type="hidden" name="return_to" value="${returnTo}">
${usernameField(config, context)}
<div class="field">
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${invalid(context)}>
${link(links.forgotPassword, texts.forgot_password)}
</div>
<button type="submit">${texts.login_button}</button>
</form>
${links.createAccount && html`<p class="new">${texts.new_here} ${link(links.createAccount, texts.create_account)}</p>`}`,
    links: [link(links.help, texts.help), link(backUrl, texts.back)],
  }
}

function usernameField({ loginName, texts }: Config, context: LoginContext): Html {
  const { username, message } = context
  const type = loginName === 'email' && html` type="email"`
  const focus = new Html(message === undefined ? ' autofocus' : ' aria-describedby="message"')
  return html`<div class="field">
<label for="username">${texts.username}</label>
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
function nextStep(config: Config, { error, returnTo, retryAfterSeconds }: LoginContext): Html | undefined {
  const { links, texts } = config
  const isOther = error === 'session_already_logged_in_on_another_account'
  const forgot = retryAfterSeconds === undefined ? undefined : link(links.forgotPassword, texts.forgot_password)
  const next = isOther ? link(logoutUrl(config, returnTo), texts.logout_title) : forgot
  return next && html` ${next}`
}

/** Returns the address of the logout page, for a user who is logged in with another account. */
export const logoutUrl = ({ routes, siteUrl }: Config, returnTo: string) =>
  routes.logout === false ? undefined : `${siteUrl}${routes.logout}?return_to=${encodeURIComponent(returnTo)}`

function logoutPage({ texts }: Config, { action, returnTo, isAll }: ConfirmLogoutContext): Content {
  const title = isAll ? texts.logout_all_title : texts.logout_title
  return {
    title,
    main: html`<h1>${title}</h1>
<p>${isAll ? texts.logout_all_question : texts.logout_question}</p>
<form method="post" action="${action}" class="buttons">
<input type="hidden" name="return_to" value="${returnTo}">
<button type="submit">${isAll ? texts.logout_all_button : texts.logout_button}</button>
${link(returnTo, texts.cancel, 'button quiet')}
</form>`,
    links: [],
  }
}

function problemPage({ texts }: Config, context: ProblemContext): Content {
  const title = texts[problemTitle(context)]
  const button = problemButton(texts, context)
  const home = link(context.homeUrl, texts.home, button ? undefined : 'button quiet')
  return {
    title,
    main: html`<h1>${title}</h1>
<p>${context.message}</p>
<p class="buttons">${button ?? home}</p>`,
    links: [button && home],
  }
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
function problemButton(texts: AllTexts, { loginUrl, otherAccountUrl, canReload }: ProblemContext): Html | undefined {
  if (loginUrl !== undefined)
    return html`<a class="button" href="${loginUrl}" target="_blank" rel="noreferrer">${texts.login_title}</a>`
  if (otherAccountUrl !== undefined) return link(otherAccountUrl, texts.other_account, 'button')
  return canReload ? link('', texts.try_again, 'button') : undefined
}
