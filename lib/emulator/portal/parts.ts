/** Renders small parts that the sections of the portal share. */
import { type Html, type HtmlValue, portalHtml } from './html'

/** The control call of a button. */
export interface ControlCall {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Path below `/_emulator`. */
  readonly path: string
  readonly body?: object
  /** Message after success. */
  readonly done: string
  /** Question to confirm before the call. */
  readonly confirm?: string
}

/** Renders a button that makes a control call. `about` completes the button's name for a screen reader. */
export function button(label: string, call: ControlCall, about = ''): Html {
  const { method, path, body = {}, done, confirm } = call
  const name = about === '' ? undefined : portalHtml` aria-label="${`${label}: ${about}`}"`
  return portalHtml`<button type="button" data-key="${`${method} ${path} ${label}`}" data-method="${method}"
    data-path="${`/_emulator${path}`}" data-body="${JSON.stringify(body)}" data-done="${done}"
    ${confirm === undefined ? '' : portalHtml`data-confirm="${confirm}"`}${name}>${label}</button>`
}

/** Renders a label with a coloured background. The meaning is in the text, not in the colour. */
export function chip(text: string, tone: 'good' | 'bad' | 'warn' | 'plain' = 'plain'): Html {
  return portalHtml`<span class="chip ${tone}">${text}</span>`
}

/** Renders a section that the page updates. */
export function section(id: string, title: string, count: HtmlValue, content: HtmlValue): Html {
  return portalHtml`<section id="${id}" data-live aria-labelledby="${id}-title">
  <h2 id="${id}-title">${title} <span class="count">${count}</span></h2>
  ${content}
</section>`
}

/** Renders the text of an empty section. */
export function empty(text: string): Html {
  return portalHtml`<p class="empty">${text}</p>`
}

/** Renders the first characters of an ID, with the whole ID as the title. */
export function shortId(id: string): Html {
  return portalHtml`<code title="${id}">${id.slice(0, 8)}…</code>`
}
