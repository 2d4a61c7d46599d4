/** Renders the accounts, with their passwords: they are made up, and /_emulator/export gives them too. */
import { type Html, portalHtml } from './html'
import { button, chip, empty, section, type TableColumn, table } from './parts'
import type { AccountRow, PortalView } from './shown'
import { dateText, spanText } from './time'

/** Renders accounts with their state and their buttons. */
export function accountsSection({ accounts, now }: PortalView): Html {
  const columns: readonly TableColumn<AccountRow>[] = [
    ['Account', (account) => portalHtml`<strong>${account.name}</strong> ${stateOf(account, now)}`],
    ['Username', ({ username }) => portalHtml`<code>${username}</code>`],
    ['Password', ({ password }) => portalHtml`<code>${password}</code>`],
    ['', (account) => portalHtml`<div class="buttons">${accountButtons(account)}</div>`],
  ]
  const list = accounts.length === 0 ? empty('No accounts are configured.') : table('Accounts', columns, accounts)
  return section('accounts', 'Accounts', accounts.length, list)
}

function stateOf({ active, frozenUntil, failedAttempts, sessionCount }: AccountRow, now: number): Html {
  const wrong = frozenUntil === null && failedAttempts > 0
  return portalHtml`<div class="chips">${!active && chip('not active', 'bad')}
    ${frozenUntil !== null && chip(`frozen ${spanText(frozenUntil - now)}`, 'bad', `until ${dateText(frozenUntil)} UTC`)}
    ${wrong && chip(`${failedAttempts} wrong so far`, 'warn')}
    ${sessionCount > 0 && chip(`${sessionCount} ${sessionCount === 1 ? 'session' : 'sessions'}`)}</div>`
}

function accountButtons({ username, name, active, frozenUntil }: AccountRow): Html[] {
  const path = `/accounts/${encodeURIComponent(username)}`
  const post = (label: string, action: string, done: string, whole = label) =>
    button(label, { method: 'POST', path: `${path}/${action}`, done }, name, whole)
  return [
    button('One-time password', { method: 'POST', path: '/otps', body: { username }, done: `For ${name}:` }, name),
    post('Log out', 'logout-all', `${name} is logged out everywhere.`, 'Log out everywhere'),
    frozenUntil === null
      ? post('Freeze', 'freeze', `${name} is frozen.`)
      : post('Unfreeze', 'unfreeze', `${name} is not frozen any more.`),
    button(
      active ? 'Deactivate' : 'Activate',
      {
        method: 'PATCH',
        path,
        body: { active: !active },
        done: `${name} is ${active ? 'not active any more' : 'active'}.`,
      },
      name,
    ),
  ]
}
