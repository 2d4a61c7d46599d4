/** The built-in pages, and what a site's own views are given. */
import type { Texts, Views } from '../site'
import { Html, html } from './html'
import { STYLE } from './style'
import { textOf } from './texts'

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
