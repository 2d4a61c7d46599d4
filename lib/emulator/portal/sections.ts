/** Renders the sections of the portal. Interface: "Preconditions for SSO2" describes the admin portal. */
import type { SessionStatus } from '../../protocol/claims'
import type { Client } from '../config/options'
import type { AccountView } from '../control/views'
import type { Fault } from '../faults/list'
import { type Html, portalHtml } from './html'
import { button, chip, empty, section, shortId } from './parts'
import type { PortalView, SessionRow } from './shown'
import { dateText, spanText, timeText } from './time'

const steps: readonly [label: string, seconds: number][] = [
  ['10 s', 10],
  ['6 min', 360],
  ['2 h', 7200],
  ['12 h', 43_200],
]

/** Renders the clock, and the buttons that move the clock forward. */
export function clockSection({ now, aheadSeconds, tokenTime }: PortalView): Html {
  const ahead = aheadSeconds > 0 ? `${spanText(aheadSeconds)} ahead of the system` : "the system's time"
  const content = portalHtml`<p class="time"><time>${dateText(now)}</time> <span class="muted">UTC, ${ahead}</span></p>
    <p class="muted">Times in tokens follow ${tokenTime === 'virtual' ? 'this clock' : "the system's clock"}.</p>
    <div class="buttons" role="group" aria-label="Put the clock forward">
      ${steps.map(([label, seconds]) =>
        button(`+ ${label}`, {
          method: 'POST',
          path: '/clock',
          body: { advance: seconds },
          done: `The clock went forward by ${label}.`,
        }),
      )}
      ${button('Reset everything', {
        method: 'POST',
        path: '/reset',
        done: 'Everything is as it was configured.',
        confirm:
          'Forget all sessions, faults and calls, and set the clock back? Login limits that a site has counted stay.',
      })}
    </div>`
  return section('clock', 'Clock', '', content)
}

/** Renders API clients with landing page and SSO2 flag. */
export function clientsSection({ clients }: PortalView): Html {
  const rows = clients.map(clientRow)
  return section('clients', 'API clients', clients.length, portalHtml`<ul class="rows">${rows}</ul>`)
}

function clientRow({ clientId, name, landingPage, sso2, scopes }: Client): Html {
  return portalHtml`<li>
    <div class="head"><strong>${name}</strong> <code>${clientId}</code>
      ${sso2 ? chip('SSO2', 'good') : chip('not SSO2', 'warn')}</div>
    <div class="muted wrap">Landing page <code>${landingPage}</code></div>
    <div class="muted wrap">Scopes ${scopes.length === 0 ? 'none' : scopes.map((scope) => portalHtml`<code>${scope}</code> `)}</div>
  </li>`
}

/** Renders accounts with their state and their buttons. */
export function accountsSection({ accounts, now }: PortalView): Html {
  const rows = accounts.map((account) => accountRow(account, now))
  const list = rows.length === 0 ? empty('No accounts are configured.') : portalHtml`<ul class="rows">${rows}</ul>`
  return section('accounts', 'Accounts', accounts.length, list)
}

function accountRow(account: AccountView, now: number): Html {
  const { username, name, active, frozenUntil, failedAttempts, sessions } = account
  const frozen =
    frozenUntil === null ? undefined : `frozen until ${dateText(frozenUntil)}, ${spanText(frozenUntil - now)}`
  return portalHtml`<li>
    <div class="head"><strong>${name}</strong> <code>${username}</code>
      ${active ? chip('active', 'good') : chip('not active', 'bad')}
      ${frozen !== undefined && chip(frozen, 'bad')}
      ${frozen === undefined && failedAttempts > 0 && chip(`${failedAttempts} wrong so far`, 'warn')}
      ${sessions > 0 && chip(`${sessions} ${sessions === 1 ? 'session' : 'sessions'}`)}</div>
    <div class="buttons">${accountButtons(account)}</div>
  </li>`
}

function accountButtons({ username, name, active, frozenUntil }: AccountView): Html[] {
  const path = `/accounts/${encodeURIComponent(username)}`
  const post = (label: string, action: string, done: string) =>
    button(label, { method: 'POST', path: `${path}/${action}`, done }, name)
  return [
    button('One-time password', { method: 'POST', path: '/otps', body: { username }, done: `For ${name}:` }, name),
    post('Log out everywhere', 'logout-all', `${name} is logged out everywhere.`),
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

const tones: Readonly<Record<SessionStatus, 'good' | 'bad' | 'plain'>> = {
  anon: 'plain',
  loggedin: 'good',
  terminated: 'bad',
}

/** Renders the sessions of all sites, the latest used session first. */
export function sessionsSection({ sessions, sessionCount, now }: PortalView): Html {
  const rows = sessions.map((session) => sessionRow(session, now))
  const more =
    sessionCount > rows.length && portalHtml`<p class="muted">The latest ${rows.length} of ${sessionCount}.</p>`
  const list =
    rows.length === 0 ? empty('No browser has been here yet.') : portalHtml`<ul class="rows">${rows}</ul>${more}`
  return section('sessions', 'Sessions', sessionCount, list)
}

function sessionRow(session: SessionRow, now: number): Html {
  const { sid, browser, status, who, clients, createdAt, lastSeenAt } = session
  const path = `/sessions/${encodeURIComponent(sid)}`
  const about = `session ${sid.slice(0, 8)}`
  const end = { method: 'POST', path: `${path}/terminate`, done: 'The session has ended.' } as const
  return portalHtml`<li>
    <div class="head">${shortId(sid)} ${chip(status, tones[status])} ${who !== undefined && portalHtml`<strong>${who}</strong>`}
      ${clients.map((client) => chip(client))}</div>
    <div class="muted">${spanText(now - createdAt)} old, used ${spanText(now - lastSeenAt)} ago</div>
    <div class="links"><a href="/flows/sessions/${encodeURIComponent(sid)}" aria-label="Flow of session ${sid.slice(0, 8)}">Flow</a>
      <a href="/flows/browsers/${browser}" aria-label="All of this browser: ${browser}">All of this browser</a></div>
    <div class="buttons">
      ${status !== 'terminated' && button('Log out', end, about)}
      ${button('Prune', { method: 'DELETE', path, done: 'The session is forgotten.' }, about)}
    </div>
  </li>`
}

/** Renders the active faults. */
export function faultsSection({ faults }: PortalView): Html {
  const off = button('Switch all off', { method: 'DELETE', path: '/faults', done: 'All faults are off.' })
  const list =
    faults.length === 0
      ? empty('Everything works as it should.')
      : portalHtml`<ul class="rows">${faults.map(faultRow)}</ul><div class="buttons">${off}</div>`
  return section('faults', 'Faults', faults.length, list)
}

function faultRow({ id, operation, kind, times, sid, ...rest }: Fault): Html {
  const details = Object.entries(rest).map(([name, value]) => `${name} ${String(value)}`)
  const off = button(
    'Switch off',
    { method: 'DELETE', path: `/faults/${id}`, done: 'The fault is off.' },
    `${kind} at ${operation}`,
  )
  return portalHtml`<li>
    <div class="head"><code>${operation}</code> ${chip(kind, 'bad')} <span>${details.join(', ')}</span></div>
    <div class="muted">${times === undefined ? 'until switched off' : `the next ${times}`}${
      sid !== undefined && portalHtml`, session ${shortId(sid)}`
    }</div>
    <div class="buttons">${off}</div>
  </li>`
}

const good = new Set(['anon', 'loggedin', 'ok'])

/** Renders the calls, newest first. */
export function callsSection({ calls }: PortalView): Html {
  const rows = calls.map(({ call, number }) => {
    const { at, operation, clientId, sid, claims, outcome, detail, fault } = call
    const tone = good.has(outcome) ? 'good' : outcome === 'terminated' ? 'plain' : 'bad'
    return portalHtml`<li><details data-key="${`call ${number}`}"><summary>
      <time>${timeText(at)}</time> <strong>${operation}</strong> ${chip(outcome, tone)}
      ${fault !== undefined && chip(`fault: ${fault}`, 'warn')}
      <span class="muted">${clientId ?? 'unknown client'}</span></summary>
      ${detail !== undefined && portalHtml`<p>${detail}</p>`}
      ${sid !== null && portalHtml`<p class="wrap">Session <code>${sid}</code> <a href="/flows/sessions/${encodeURIComponent(sid)}">Flow of this session</a></p>`}
      <pre>${JSON.stringify(claims, undefined, 2)}</pre>
    </details></li>`
  })
  const list = rows.length === 0 ? empty('No site has called yet.') : portalHtml`<ul class="rows calls">${rows}</ul>`
  return section('calls', 'Calls', rows.length, list)
}
