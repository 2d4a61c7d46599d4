/** The built-in pages, and what a site's own views are given. */
import type { LoginError } from '../../decide/login'
import { Html, html } from './html'
import { STYLE } from './style'
import { type Texts, textOf } from './texts'

/** What the login view shows. */
export interface LoginContext {
  /** Where the form is posted. */
  readonly action: string
  /** Goes into the hidden field `return_to`. */
  readonly returnTo: string
  /** What was typed before; never a password. */
  readonly username: string
  readonly error: LoginError | undefined
  /** The error, or the notice that the session had ended, in words. */
  readonly message: string | undefined
  readonly remainingAttempts: number | undefined
  readonly frozenForSeconds: number | undefined
}

/** What the logout confirmation shows. */
export interface ConfirmLogoutContext {
  readonly action: string
  readonly returnTo: string
  /** Ends all sessions of the account. */
  readonly isAll: boolean
}

/** What the problem page shows. */
export interface ProblemContext {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly homeUrl: string
}

/** Views: context in, HTML out. */
export interface Views {
  login(context: LoginContext): string | Promise<string>
  confirmLogout(context: ConfirmLogoutContext): string | Promise<string>
  problem(context: ProblemContext): string | Promise<string>
}

function page(title: string, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.text
}

const alert = (message: string | undefined) =>
  message && html`<p class="alert" role="alert" id="message" tabindex="-1" autofocus>${message}</p>`

/** The built-in views with the site's texts. */
export function builtInViews(texts: Texts): Views {
  const text = (code: string) => textOf(texts, code)
  return {
    login: ({ action, returnTo, username, message }) => {
      const focus = message ? undefined : new Html(' autofocus')
      return page(
        text('login_title'),
        html`<h1>${text('login_title')}</h1>
${alert(message)}
<form method="post" action="${action}">
<input type="hidden" name="return_to" value="${returnTo}">
<label for="username">${text('username')}</label>
<input id="username" name="username" value="${username}" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="256"${focus}${message && new Html(' aria-describedby="message"')}>
<label for="password">${text('password')}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024">
<button type="submit">${text('login_button')}</button>
</form>
<p class="quiet"><a href="${returnTo}">${text('back')}</a></p>`,
      )
    },
    confirmLogout: ({ action, returnTo, isAll }) => {
      const title = text(isAll ? 'logout_all_title' : 'logout_title')
      return page(
        title,
        html`<h1>${title}</h1>
<p>${text(isAll ? 'logout_all_question' : 'logout_question')}</p>
<form method="post" action="${action}">
<input type="hidden" name="return_to" value="${returnTo}">
<button type="submit" autofocus>${text(isAll ? 'logout_all_button' : 'logout_button')}</button>
</form>
<p class="quiet"><a href="${returnTo}">${text('back')}</a></p>`,
      )
    },
    problem: ({ message, homeUrl }) =>
      page(
        text('problem_title'),
        html`<h1>${text('problem_title')}</h1>
<p>${message}</p>
<p class="quiet"><a href="${homeUrl}">${text('home')}</a></p>`,
      ),
  }
}
