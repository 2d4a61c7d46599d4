/** Small pieces that the sections of the portal share. */
import { type Html, type HtmlValue, html } from './html'

/** A control call behind a button. */
export interface ControlCall {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** Below `/_emulator`. */
  readonly path: string
  readonly body?: object
  /** What the page says when it is done. */
  readonly done: string
  /** A question to answer first. */
  readonly confirm?: string
}

/** A button that makes one control call: the same one that tests make. `about` completes its name for a screen reader. */
export function button(label: string, call: ControlCall, about = ''): Html {
  const { method, path, body = {}, done, confirm } = call
  const name = about === '' ? undefined : html` aria-label="${`${label}: ${about}`}"`
  return html`<button type="button" data-key="${`${method} ${path} ${label}`}" data-method="${method}"
    data-path="${`/_emulator${path}`}" data-body="${JSON.stringify(body)}" data-done="${done}"
    ${confirm === undefined ? '' : html`data-confirm="${confirm}"`}${name}>${label}</button>`
}

/** A word on a coloured ground; the word alone says it all. */
export function chip(text: string, tone: 'good' | 'bad' | 'warn' | 'plain' = 'plain'): Html {
  return html`<span class="chip ${tone}">${text}</span>`
}

/** A section that the page keeps up to date. */
export function section(id: string, title: string, count: HtmlValue, content: HtmlValue): Html {
  return html`<section id="${id}" data-live aria-labelledby="${id}-title">
  <h2 id="${id}-title">${title} <span class="count">${count}</span></h2>
  ${content}
</section>`
}

/** The text of a section that has nothing to show. */
export function empty(text: string): Html {
  return html`<p class="empty">${text}</p>`
}

/** The first characters of an ID, with the whole ID as the title. */
export function shortId(id: string): Html {
  return html`<code title="${id}">${id.slice(0, 8)}…</code>`
}
