/** Renders the sections of the portal. Interface: "Preconditions for SSO2" describes the admin portal. */
import type { SessionStatus } from '../../protocol/claims'
import type { Client } from '../config/options'
import type { Fault } from '../faults/list'
import { type Html, portalHtml } from './html'
import { button, chip, empty, section, shortId, type TableColumn, table } from './parts'
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
  const ahead = aheadSeconds > 0 ? `${spanText(aheadSeconds)} ahead of the system` : "It is the system's time"
  const content = portalHtml`<p class="time"><time>${dateText(now)}</time> <span class="muted">UTC</span></p>
    <p class="muted">${ahead}. Times in tokens follow ${tokenTime === 'virtual' ? 'this clock' : "the system's clock"}.</p>
    <div class="buttons" role="group" aria-label="Put the clock forward">
      ${steps.map(([label, seconds]) =>
        button(`+ ${label}`, {
          method: 'POST',
          path: '/clock',
          body: { advance: seconds },
          done: `The clock went forward by ${label}.`,
        }),
      )}
    </div>`
  return section('clock', 'Clock', '', content)
}

/** Renders API clients with landing page and SSO2 flag. */
export function clientsSection({ clients }: PortalView): Html {
  const columns: readonly TableColumn<Client>[] = [
    ['Client', ({ name, clientId }) => portalHtml`<strong>${name}</strong> <code>${clientId}</code>`],
    ['Landing page', ({ landingPage }) => portalHtml`<code>${landingPage}</code>`],
    [
      'Scopes',
      ({ scopes }) => (scopes.length === 0 ? 'none' : scopes.map((scope) => portalHtml`<code>${scope}</code> `)),
    ],
    ['SSO2', ({ sso2 }) => (sso2 ? chip('SSO2', 'good') : chip('not SSO2', 'warn'))],
  ]
  const list = clients.length === 0 ? empty('No API client is configured.') : table('API clients', columns, clients)
  return section('clients', 'API clients', clients.length, list)
}

const tones: Readonly<Record<SessionStatus, 'good' | 'warn' | 'plain'>> = {
  anon: 'plain',
  loggedin: 'good',
  terminated: 'warn',
}

/** Renders the sessions of all sites, the latest used session first. */
export function sessionsSection({ sessions, sessionCount, now }: PortalView): Html {
  const columns: readonly TableColumn<SessionRow>[] = [
    ['Session', ({ sid }) => shortId(sid)],
    ['State', ({ status }) => chip(status, tones[status])],
    ['Account', ({ who }) => who ?? portalHtml`<span class="muted">none</span>`],
    ['Sites', ({ clients }) => clients.map((client) => portalHtml`<code>${client}</code> `)],
    ['Used', ({ lastSeenAt, createdAt }) => usedText(now - lastSeenAt, now - createdAt)],
    ['', sessionButtons],
  ]
  const more =
    sessionCount > sessions.length && portalHtml`<p class="muted">The latest ${sessions.length} of ${sessionCount}.</p>`
  const list =
    sessions.length === 0
      ? empty('No browser has been here yet.')
      : portalHtml`${table('Sessions', columns, sessions)}${more}`
  return section('sessions', 'Sessions', sessionCount, list)
}

const usedText = (used: number, age: number): Html =>
  portalHtml`<span title="${`begun ${spanText(age)} ago`}">${spanText(used)} ago</span>`

function sessionButtons({ sid, status }: SessionRow): Html {
  const path = `/sessions/${encodeURIComponent(sid)}`
  const about = `session ${sid.slice(0, 8)}`
  const end = { method: 'POST', path: `${path}/terminate`, done: 'The session has ended.' } as const
  return portalHtml`<div class="buttons">
    <a class="button" href="/flows/sessions/${encodeURIComponent(sid)}" aria-label="Flow of session ${sid.slice(0, 8)}">Flow</a>
    ${status !== 'terminated' && button('Log out', end, about)}
    ${button('Prune', { method: 'DELETE', path, done: 'The session is forgotten.' }, about)}
  </div>`
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
  return portalHtml`<li class="split">
    <div><div class="head"><code>${operation}</code> ${chip(kind, 'bad')} <span>${details.join(', ')}</span></div>
    <div class="muted">${times === undefined ? 'until switched off' : `the next ${times}`}${
      sid !== undefined && portalHtml`, session ${shortId(sid)}`
    }</div></div>
    ${off}
  </li>`
}

const callTones: Readonly<Record<string, 'good' | 'plain'>> = {
  anon: 'plain',
  terminated: 'plain',
  loggedin: 'good',
  ok: 'good',
}

/** Renders the calls, newest first. */
export function callsSection({ calls }: PortalView): Html {
  const rows = calls.map(({ call, number }) => {
    const { at, operation, clientId, sid, claims, outcome, detail, fault } = call
    const tone = Object.hasOwn(callTones, outcome) ? callTones[outcome] : 'bad'
    return portalHtml`<li><details data-key="${`call ${number}`}"><summary>
      <time>${timeText(at)}</time> <strong>${operation}</strong> ${chip(outcome, tone)}
      <span class="muted site">${clientId ?? 'unknown client'}</span> ${fault !== undefined && chip(`fault: ${fault}`, 'warn')}</summary>
      ${detail !== undefined && portalHtml`<p>${detail}</p>`}
      ${sid !== null && portalHtml`<p class="wrap">Session <code>${sid}</code> <a href="/flows/sessions/${encodeURIComponent(sid)}">Flow of this session</a></p>`}
      <pre>${JSON.stringify(claims, undefined, 2)}</pre>
    </details></li>`
  })
  const list = rows.length === 0 ? empty('No site has called yet.') : portalHtml`<ul class="rows calls">${rows}</ul>`
  return section('calls', 'Calls', rows.length, list)
}
