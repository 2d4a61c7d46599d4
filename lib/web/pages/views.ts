/** The HTML of the built-in pages, in the language and look of the site. */
import type { Config } from '../../config'
import type { AllTexts, TextCode } from '../../config/texts/en'
import type { BuiltInPages, ConfirmLogoutContext, LoginContext, ProblemContext, Views } from '../site'
import { Html, html, localizedText } from './html'
import { contentSecurityPolicy, DEFAULT_COLOR, styleIn } from './style'

type Branding = Pick<Config, 'brand' | 'links' | 'language' | 'loginName' | 'texts' | 'siteUrl' | 'routes'>

interface Page {
  readonly branding: Branding
  readonly style: string
  text(code: TextCode): string
}

/** Returns the built-in views. @param style style sheet of each page */
function builtInViews(branding: Branding, style: string): Views {
  const page: Page = { branding, style, text: (code) => localizedText(branding.texts, code) }
  return {
    login: (context) => loginPage(page, context),
    confirmLogout: (context) => logoutPage(page, context),
    problem: (context) => problemPage(page, context),
  }
}

/** Title and content of a page. */
interface Content {
  readonly title: string
  readonly main: Html
  /** Small links below the card. */
  readonly links: readonly (Html | undefined | false)[]
}

function whole({ branding, style }: Page, { title, main, links }: Content): string {
  const { brand, language } = branding
  const { stylesheetUrl } = brand
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${brand.name === undefined ? title : `${title} – ${brand.name}`}</title>
<style>${new Html(style)}</style>${stylesheetUrl && html`\n<link rel="stylesheet" href="${stylesheetUrl}">`}
</head>
<body>${pageHeader(branding)}
<main>
${main}
</main>
${links.some(Boolean) && html`<footer>${links}</footer>`}
</body>
</html>
`.text
}

/** Returns the name or logo of the site, with a link to the front page. */
function pageHeader({ brand, siteUrl, texts }: Branding): Html | undefined {
  const { name, logoUrl } = brand
  if (name === undefined && logoUrl === undefined) return undefined
  const content = logoUrl === undefined ? name : logo({ ...brand, logoUrl }, name ?? localizedText(texts, 'home'))
  return html`\n<header class="brand"><a href="${`${siteUrl}/`}">${content}</a></header>`
}

/** Returns the logo. Dark pages have the dark logo, or else the name. A logo without a name stands on both. */
function logo({ name, logoUrl, logoDarkUrl }: Branding['brand'] & { logoUrl: string }, alt: string): Html {
  const image = html`<img src="${logoUrl}" alt="${alt}">`
  if (logoDarkUrl !== undefined)
    return html`<picture><source srcset="${logoDarkUrl}" media="(prefers-color-scheme:dark)">${image}</picture>`
  if (name === undefined) return image
  return html`<span class="by-day">${image}</span><span class="by-night">${name}</span>`
}

/** The form has no `action`, so that the browser keeps query and fragment of the address. */
function loginPage(page: Page, context: LoginContext): string {
  const { error, returnTo, backUrl, message } = context
  const { text } = page
  const { links } = page.branding
  const title = text('login_title')
  return whole(page, {
    title: error === undefined ? title : `${text('error')} ${title}`,
    main: html`<h1>${isOnTheWay(context) ? text('login_to_continue') : title}</h1>
${message && alert(message, kindOf(error), nextStep(page, context))}
<form method="post">
<input type="hidden" name="return_to" value="${returnTo}">
<input type="hidden" name="back_to" value="${backUrl}">
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

function usernameField({ branding: { loginName }, text }: Page, context: LoginContext): Html {
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

/** Did the user want to see another page than the one before, as after a guard? */
const isOnTheWay = ({ returnTo, backUrl }: LoginContext) => withoutFragment(returnTo) !== withoutFragment(backUrl)
const withoutFragment = (address: string) => address.replace(/#.*/s, '')

const link = (address: string | undefined, text: string, kind?: string) =>
  address === undefined ? undefined : html`<a${kind && html` class="${kind}"`} href="${address}">${text}</a>`

/** A notice, an outage that says nothing about the password, or an error. */
type AlertKind = 'notice' | 'warning' | 'error'

function kindOf(error: LoginContext['error']): AlertKind {
  if (error === undefined) return 'notice'
  return error === 'unavailable' || error === 'busy' ? 'warning' : 'error'
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
  const { branding, text } = page
  const [address, code]: [string | undefined, TextCode] =
    error === 'session_already_logged_in_on_another_account'
      ? [logoutUrl(branding, returnTo), 'logout_title']
      : [retryAfterSeconds === undefined ? undefined : branding.links.forgotPassword, 'forgot_password']
  return address === undefined ? undefined : html` ${link(address, text(code))}`
}

/** Returns the address of the logout page, for a user who is logged in with another account. */
export const logoutUrl = ({ routes, siteUrl }: Pick<Config, 'routes' | 'siteUrl'>, returnTo: string) =>
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
  const { message, homeUrl, accountName } = context
  const { text } = page
  const title = text(problemTitle(context))
  const button = problemButton(page, context)
  const home = link(homeUrl, text('home'), button ? undefined : 'button quiet')
  return whole(page, {
    title,
    main: html`<h1>${title}</h1>
<p>${message}</p>
${accountName !== undefined && html`<p>${text('logged_in_as')} <strong>${accountName}</strong></p>`}
<p class="buttons">${button ?? home}</p>`,
    links: [button && home],
  })
}

function problemTitle({ status, code }: ProblemContext): TextCode {
  if (code === 'not_allowed') return 'no_access_title'
  if (status === 401) return 'logged_out_title'
  return status === 503 ? 'try_again_title' : 'problem_title'
}

/** Returns what helps the user: to log in, to log in with another account, or to load the page again. */
function problemButton({ text }: Page, { loginUrl, otherAccountUrl, canReload }: ProblemContext): Html | undefined {
  if (loginUrl !== undefined) return loginLink(loginUrl, text('login_title'), 'button')
  if (otherAccountUrl !== undefined) return link(otherAccountUrl, text('other_account'), 'button')
  return canReload ? link('', text('try_again'), 'button') : undefined
}

/** The link opens a new tab, so that the page with a form, or with the frame, stays as it is. The login page then has no "Go back" to it. */
const loginLink = (address: string, text: string, kind?: string) =>
  html`<a${kind && html` class="${kind}"`} href="${address}" target="_blank" rel="noreferrer">${text}</a>`

/** The part of a page that htmx or Turbo puts in place of its own. @param frameId of the `<turbo-frame>` that waits for it */
export function fragment(
  texts: AllTexts,
  { message, loginUrl }: Pick<ProblemContext, 'message' | 'loginUrl'>,
  frameId: string | string[] | undefined,
): string {
  const content = html`<p role="alert">${message} ${loginUrl !== undefined && loginLink(loginUrl, localizedText(texts, 'login_title'))}</p>`
  return (frameId === undefined ? content : html`<turbo-frame id="${frameId}">${content}</turbo-frame>`).text
}

/** Makes views and policy of the built-in pages, once for each site. */
export function builtInPages(config: Config): BuiltInPages {
  const { brand, ssoUrl, returnPolicy } = config
  const style = styleIn(brand.color ?? DEFAULT_COLOR)
  const formTargets = [new URL(ssoUrl).origin, returnPolicy.origin, ...returnPolicy.trustedOrigins]
  const { logoUrl, logoDarkUrl, stylesheetUrl } = brand
  return {
    views: builtInViews(config, style),
    policy: contentSecurityPolicy(style, { logoUrl, logoDarkUrl, stylesheetUrl, formTargets }),
  }
}
