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
  /** `danger` for a call that loses something on the whole page. */
  readonly look?: 'plain' | 'danger'
}

/**
 * Renders a button that makes a control call.
 * @param about completes the button's name for a screen reader
 * @param whole the name, if the label is only its beginning
 */
export function button(label: string, call: ControlCall, about = '', whole = label): Html {
  const { method, path, body = {}, done, confirm, look = 'plain' } = call
  const name =
    about === ''
      ? undefined
      : portalHtml` aria-label="${`${whole}: ${about}`}" ${whole !== label && portalHtml`title="${whole}"`}`
  return portalHtml`<button type="button" class="${look}" data-key="${`${method} ${path} ${label}`}" data-method="${method}"
    data-path="${`/_emulator${path}`}" data-body="${JSON.stringify(body)}" data-done="${done}"
    ${confirm === undefined ? '' : portalHtml`data-confirm="${confirm}"`}${name}>${label}</button>`
}

/** Renders a label with a coloured background. The meaning is in the text, not in the colour. */
export function chip(text: string, tone: 'good' | 'bad' | 'warn' | 'plain' = 'plain', title?: string): Html {
  return portalHtml`<span class="chip ${tone}"${title !== undefined && portalHtml` title="${title}"`}>${text}</span>`
}

/** A column of a table: its heading, and the cell of a row. */
export type TableColumn<Row> = readonly [heading: string, cell: (row: Row) => HtmlValue]

/** Renders a table. On a phone each row is a block. The roles keep it a table for screen readers there. */
export function table<Row>(name: string, columns: readonly TableColumn<Row>[], rows: readonly Row[]): Html {
  return portalHtml`<table role="table" aria-label="${name}"><thead role="rowgroup"><tr role="row">${columns.map(
    ([heading]) =>
      portalHtml`<th role="columnheader" scope="col">${heading === '' ? portalHtml`<span class="sr">Actions</span>` : heading}</th>`,
  )}</tr></thead><tbody role="rowgroup">${rows.map(
    (row) =>
      portalHtml`<tr role="row">${columns.map(([heading, cell]) => portalHtml`<td role="cell" data-heading="${heading}"><div>${cell(row)}</div></td>`)}</tr>`,
  )}</tbody></table>`
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
