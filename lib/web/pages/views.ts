/** The HTML of the built-in pages, in the language and look of the site. */
import type { Config } from '../../config'
import type { AllTexts, TextCode } from '../../config/texts/en'
import type { BuiltInPages, ConfirmLogoutContext, LoginContext, ProblemContext, Views } from '../site'
import { Html, html, localizedText } from './html'
import { contentSecurityPolicy, DEFAULT_COLOR, styleIn } from './style'

type Branding = Pick<Config, 'brand' | 'links' | 'language' | 'texts' | 'siteUrl' | 'routes'>

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

function whole({ branding, style }: Page, title: string, body: Html): string {
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
${body}
</main>
</body>
</html>
`.text
}

/** Returns the name or logo of the site, with a link to the front page. */
function pageHeader({ brand: { name, logoUrl }, siteUrl, texts }: Branding): Html | undefined {
  if (name === undefined && logoUrl === undefined) return undefined
  const logo = logoUrl === undefined ? name : html`<img src="${logoUrl}" alt="${name ?? localizedText(texts, 'home')}">`
  // many SVG logos have no size, so the link gives the width
  const kind = logoUrl === undefined ? undefined : html` class="logo"`
  return html`\n<header class="brand"><a${kind} href="${`${siteUrl}/`}">${logo}</a></header>`
}

/** The form has no `action`, so that the browser keeps query and fragment of the address. */
function loginPage(page: Page, context: LoginContext): string {
  const { returnTo, backUrl, username, message } = context
  const { text } = page
  const focus = message ? undefined : new Html(' autofocus')
  return whole(
    page,
    text('login_title'),
    html`<h1>${text('login_title')}</h1>
${message && alert(message, nextStep(page, context))}
<form method="post">
<input type="hidden" name="return_to" value="${returnTo}">
<input type="hidden" name="back_to" value="${backUrl}">
<label for="username">${text('username')}</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="256"${focus}${message && new Html(' aria-describedby="message"')}>
<label for="password">${text('password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024">
<button type="submit">${text('login_button')}</button>
</form>
${linkList(page)}
${backLink(page, backUrl)}`,
  )
}

const alert = (message: string, more: Html | undefined) =>
  html`<p class="alert" role="alert" id="message" tabindex="-1" autofocus>${message}${more}</p>`

/** Returns the link of a user who cannot go on with the form. */
function nextStep(page: Page, { error, returnTo, retryAfterSeconds }: LoginContext): Html | undefined {
  const { forgotPassword } = page.branding.links
  if (error === 'session_already_logged_in_on_another_account') return logoutLink(page, returnTo)
  if (retryAfterSeconds === undefined || forgotPassword === undefined) return undefined
  return html` <a href="${forgotPassword}">${page.text('forgot_password')}</a>`
}

/** Link for a user who is logged in with another account. */
function logoutLink({ branding: { routes, siteUrl }, text }: Page, returnTo: string): Html | undefined {
  if (routes.logout === false) return undefined
  const address = `${siteUrl}${routes.logout}?return_to=${encodeURIComponent(returnTo)}`
  return html` <a href="${address}">${text('logout_title')}</a>`
}

function linkList({ branding: { links }, text }: Page): Html | undefined {
  const rows: [address: string | undefined, code: TextCode][] = [
    [links.forgotPassword, 'forgot_password'],
    [links.createAccount, 'create_account'],
    [links.help, 'help'],
  ]
  const items = rows.flatMap(([address, code]) =>
    address === undefined ? [] : [html`<li><a href="${address}">${text(code)}</a></li>\n`],
  )
  return items.length === 0 ? undefined : html`<ul class="links">\n${items}</ul>`
}

const backLink = ({ text }: Page, address: string) =>
  html`<p class="links"><a href="${address}">${text('back')}</a></p>`

function logoutPage(page: Page, { action, returnTo, isAll }: ConfirmLogoutContext): string {
  const { text } = page
  const title = text(isAll ? 'logout_all_title' : 'logout_title')
  return whole(
    page,
    title,
    html`<h1>${title}</h1>
<p>${text(isAll ? 'logout_all_question' : 'logout_question')}</p>
<form method="post" action="${action}">
<input type="hidden" name="return_to" value="${returnTo}">
<button type="submit" autofocus>${text(isAll ? 'logout_all_button' : 'logout_button')}</button>
</form>
${backLink(page, returnTo)}`,
  )
}

function problemPage(page: Page, { message, homeUrl, loginUrl }: ProblemContext): string {
  const { text } = page
  return whole(
    page,
    text('problem_title'),
    html`<h1>${text('problem_title')}</h1>
<p>${message}</p>
<p class="links">${loginLink(loginUrl, text('login_title')) ?? html`<a href="${homeUrl}">${text('home')}</a>`}</p>`,
  )
}

/** The link opens a new tab, so that the page with a form, or with the frame, stays as it is. The login page then has no "Go back" to it. */
const loginLink = (address: string | undefined, text: string) =>
  address === undefined ? undefined : html`<a href="${address}" target="_blank" rel="noreferrer">${text}</a>`

/** The part of a page that htmx or Turbo puts in place of its own. @param frameId of the `<turbo-frame>` that waits for it */
export function fragment(
  texts: AllTexts,
  { message, loginUrl }: Pick<ProblemContext, 'message' | 'loginUrl'>,
  frameId: string | string[] | undefined,
): string {
  const content = html`<p role="alert">${message} ${loginLink(loginUrl, localizedText(texts, 'login_title'))}</p>`
  return (frameId === undefined ? content : html`<turbo-frame id="${frameId}">${content}</turbo-frame>`).text
}

/** Makes views and policy of the built-in pages, once for each site. */
export function builtInPages(config: Config): BuiltInPages {
  const { brand, ssoUrl, returnPolicy } = config
  const style = styleIn(brand.color ?? DEFAULT_COLOR)
  const formTargets = [new URL(ssoUrl).origin, returnPolicy.origin, ...returnPolicy.trustedOrigins]
  const { logoUrl, stylesheetUrl } = brand
  return {
    views: builtInViews(config, style),
    policy: contentSecurityPolicy(style, { logoUrl, stylesheetUrl, formTargets }),
  }
}
