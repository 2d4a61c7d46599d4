import { type Operation, sso2ErrorCodes } from '../../lib/protocol/claims'
import {
  answerOf,
  type BadToken,
  type Claims,
  changed,
  envelopeOf,
  goodClaims,
  group,
  HEADER,
  type Row,
  signClaims,
  signTexts,
  spelled,
  subjectOf,
  type Target,
} from './bad-tokens'

/** Bad tokens that would be good as something else: requests, answers to another question, impossible answers. */
export function badAnswers(target: Target): BadToken[] {
  return [...reflections(target), ...otherAnswers(target), ...combinations(target), ...subjects(target)]
}

/** Our own requests come back: everybody sees the one of Identify, and all are signed with the same secret. */
function reflections(target: Target): BadToken[] {
  const { clientId, organisationId, issuer, now, sid, aid } = target
  const common = { cid: clientId, nbf: now, exp: now + 10, iat: now, iss: organisationId, aud: issuer }
  const device = { ipa: '192.0.2.1', uas: 'Mozilla/5.0' }
  const requests: Record<Operation, Claims> = {
    identify: common,
    authenticate: { ...common, ...device, sid, usr: 'ada', pwd: 'x' },
    sessionstatus: { ...common, ...device, sid, lks: 'anon' },
    logout: { ...common, ...device, sid },
    logoutall: { ...common, ...device, aid },
  }
  const answer = answerOf(target.operation, target)
  return group(
    'reflection',
    Object.entries(requests).flatMap(([name, request]): Row[] => [
      [`the request of ${name}`, signClaims(target, request), 'issuer'],
      [`the request of ${name} with what an answer says`, signClaims(target, { ...request, ...answer }), 'issuer'],
      [
        `the request of ${name} from the right issuer`,
        signClaims(target, { ...request, ...answer, iss: issuer }),
        'audience',
      ],
      [`the request of ${name} for us`, signClaims(target, { ...request, ...answer, aud: clientId }), 'issuer'],
      [
        `the request of ${name} from the right issuer for us, without an answer`,
        signClaims(target, { ...request, iss: issuer, aud: clientId }),
        'claims',
      ],
    ]),
  )
}

type Combination = readonly [sts: 'anon' | 'loggedin' | 'terminated', hasTicket: boolean]
const ALL: readonly Combination[] = (['anon', 'loggedin', 'terminated'] as const).flatMap((sts) => [
  [sts, false] as const,
  [sts, true] as const,
])
/** What the interface documents where `err` is null; Session Status as asked with `lks` `anon`. */
const DOCUMENTED: Readonly<Record<Operation, readonly string[]>> = {
  identify: ['anon', 'loggedin with a ticket'],
  authenticate: ['loggedin with a ticket'],
  sessionstatus: ['anon', 'loggedin', 'loggedin with a ticket', 'terminated'],
  logout: ['terminated'],
  logoutall: ['terminated'],
}
const combinationName = ([sts, hasTicket]: Combination) => `${sts}${hasTicket ? ' with a ticket' : ''}`

function combinations(target: Target): BadToken[] {
  const { operation, ticket } = target
  const rows = ALL.filter((one) => !DOCUMENTED[operation].includes(combinationName(one)))
  const codes = [...Object.keys(sso2ErrorCodes), 'a_code_of_tomorrow', '__proto__', 'toString']
  const told: Row[] = codes.map((err) => [`${err} with a ticket`, changed(target, { err, at: ticket }), 'claims'])
  const staying = operation === 'authenticate' ? [] : codes.slice(0, 10)
  for (const err of staying)
    told.push([`${err} and logged in`, changed(target, { err, sts: 'loggedin', at: null }), 'claims'])
  if (operation === 'identify')
    for (const err of codes)
      told.push([`${err} at the landing`, changed(target, { err, sts: 'anon', at: null }), 'undocumented'])
  const counts = ['"3"', '1.5', '-2', 'true', '[3]', '{}', '1e400', '9007199254740993']
  const counted = ['frf', 'raa'].flatMap((name) =>
    counts.map((value): Row => [`${name} as ${value}`, spelled(target, name, value), 'claims']),
  )
  return [
    ...group('combination', [
      ...rows.map((one): Row => {
        const [sts, hasTicket] = one
        return [combinationName(one), changed(target, { sts, at: hasTicket ? ticket : null }), 'claims']
      }),
      ...told,
    ]),
    ...group('count', operation === 'authenticate' ? counted : []),
  ]
}

/** Answers to another operation, good ones there. Threat L7. */
function otherAnswers(target: Target): BadToken[] {
  const operations: Operation[] = ['identify', 'authenticate', 'sessionstatus', 'logout', 'logoutall']
  const rows = operations.flatMap((operation) =>
    DOCUMENTED[operation].flatMap((said): Row[] => {
      if (
        DOCUMENTED[target.operation].includes(said) &&
        (operation === 'logoutall') === (target.operation === 'logoutall')
      )
        return []
      const [sts = 'anon'] = said.split(' ')
      const at = said.includes('ticket') ? target.ticket : null
      const answer = { ...envelopeOf(target), ...answerOf(operation, target), sts, at }
      return [[`${said}, by ${operation}`, signClaims(target, answer), 'claims']]
    }),
  )
  const security = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const { sts: _sts, ...bare } = goodClaims(target)
  return group('other-answer', [
    ...rows,
    [
      'a logout token of OpenID Connect',
      signClaims(target, { ...bare, events: security, jti: '1', sub: 'ada' }),
      'claims',
    ],
    [
      'an ID token',
      signClaims(target, { ...envelopeOf(target), sub: 'ada', nonce: 'n', auth_time: target.now }),
      'claims',
    ],
    ['an access token', signClaims(target, { ...envelopeOf(target), scope: '/external/me/order/r' }), 'claims'],
    ['nothing but issuer, audience and times', signClaims(target, envelopeOf(target)), 'claims'],
    ['no claim at all', signTexts(HEADER, '{}', target.secrets[0]), 'issuer'],
  ])
}

/** Answers about another session or account. The landing has asked about none. Threat L8. */
function subjects(target: Target): BadToken[] {
  if (target.operation === 'identify') return []
  const name = subjectOf(target)
  const asked = target[name]
  const others = [`${asked}x`, asked.slice(0, -1), asked.toUpperCase(), ` ${asked}`, `${asked} `, `${asked}\u200b`, '*']
  const { [name]: _own, ...rest } = goodClaims(target)
  const otherName = name === 'sid' ? 'aid' : 'sid'
  return group('subject', [
    ...others.map((other): Row => [JSON.stringify(other), changed(target, { [name]: other }), 'session_mismatch']),
    [
      'another one with an error',
      changed(target, { [name]: 'other', sts: 'anon', at: null, err: 'invalid_token' }),
      'session_mismatch',
    ],
    ['said under the other name', signClaims(target, { ...rest, [otherName]: asked }), 'claims'],
    ['said in capitals', signClaims(target, { ...rest, [name.toUpperCase()]: asked }), 'claims'],
  ])
}
