/** Renders the form that switches a fault on. Live updates do not replace the form, so that typed values stay. */
import { sso2ErrorCodes } from '../../protocol/claims'
import { emulatedOperations } from '../faults/rules'
import { type Html, portalHtml } from './html'

/** Each kind, with the field of its value and a default value. */
const kinds: readonly [kind: string, says: string, field?: string, first?: string | number][] = [
  ['down', 'connection lost, no answer'],
  ['hang', 'no answer, ever'],
  ['slow', 'a late answer', 'ms', 3000],
  ['status', 'an HTTP status', 'code', 503],
  ['garbage', 'an unreadable answer'],
  ['null', 'the answer null'],
  ['empty', 'an empty answer'],
  ['huge', 'an answer of 20 MB'],
  ['drip', 'an answer byte by byte'],
  ['drop_after_commit', 'done, answer lost'],
  ['error', 'an error code (SSO2)', 'code', 'session_not_found'],
  ['wrong_signature', 'wrong secret (SSO2)'],
  ['expired', 'a token too old (SSO2)'],
  ['skew', 'a clock that is ahead (SSO2)', 'seconds', 34],
  ['wrong_session', 'not this one (SSO2)'],
  ['wrong_audience', 'another client (SSO2)'],
]

export function faultForm(): Html {
  return portalHtml`<form id="fault-form" data-path="/_emulator/faults" data-done="The fault is on.">
  <h3>Switch a fault on</h3>
  <label class="wide">Operation <select name="operation">${emulatedOperations.map((name) => portalHtml`<option>${name}</option>`)}</select></label>
  <label class="wide">Kind <select name="kind">${kinds.map(
    ([kind, says, field = '', first = '']) =>
      portalHtml`<option value="${kind}" data-field="${field}" data-first="${first}">${kind}: ${says}</option>`,
  )}</select></label>
  <label id="fault-value" class="wide" hidden><span>Value</span> <input name="value" list="error-codes" autocomplete="off" /></label>
  <datalist id="error-codes">${Object.keys(sso2ErrorCodes).map((code) => portalHtml`<option>${code}</option>`)}</datalist>
  <label>Times <input name="times" type="number" min="1" placeholder="until switched off" /></label>
  <label>Session <input name="sid" placeholder="every session" autocomplete="off" /></label>
  <button class="primary" data-key="add-fault">Switch on</button>
</form>`
}
