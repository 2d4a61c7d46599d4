import type { Operation } from '../../lib/protocol/claims'
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
  SISTER_SECRET,
  signClaims,
  signTexts,
  spelled,
  subjectOf,
  type Target,
} from './bad-tokens'
import { badBytes } from './bad-tokens-bytes'

/** Every token that must be refused as the answer that `target` describes. */
export function badTokens(target: Target): BadToken[] {
  return [...badBytes(target), ...badClaims(target)]
}

/** Bad tokens that are signed as they should be. Their fault is in what they say, or they answer another question. */
function badClaims(target: Target): BadToken[] {
  const kinds = [types, times, parties, prototypes, reflections, otherAnswers, subjects]
  return kinds.flatMap((kind) => kind(target))
}

function types(target: Target): BadToken[] {
  const subject = subjectOf(target)
  const timeRows = ['nbf', 'iat', 'exp'].flatMap((name): Row[] => [
    ...['null', '"NOW"', 'NOW.5', '1e400'].map((value): Row => {
      const text = value.replace('NOW', String(target.now))
      return [`${name} as ${value}`, spelled(target, name, text)]
    }),
    [`${name} missing`, changed(target, { [name]: undefined })],
    [`${name} in milliseconds`, changed(target, { [name]: target.now * 1000 }), 'claims', 'not_yet_valid'],
  ])
  const wrongTexts = [7, { $ne: null }, '', `${target.sid}\u0000`, 'x'.repeat(4097)]
  const textRows = [subject, 'at', 'err'].flatMap((name) =>
    wrongTexts.map(
      (value): Row => [`${name} is ${JSON.stringify(value).slice(0, 40)}`, changed(target, { [name]: value })],
    ),
  )
  const statuses = ['ANON', 'loggedin ', 1, null, ['loggedin']]
  return [
    ...group('time', 'claims', timeRows),
    ...group('type', 'claims', [
      ...textRows,
      [`${subject} is missing`, changed(target, { [subject]: undefined })],
      ...statuses.map((sts): Row => [`sts is ${JSON.stringify(sts)}`, changed(target, { sts })]),
    ]),
  ]
}

function times(target: Target): BadToken[] {
  const { now } = target
  const moved = (seconds: number) =>
    changed(target, { nbf: now + seconds, iat: now + seconds, exp: now + seconds + 10 })
  return group('time', 'claims', [
    ...[-15, -86_400].map((by): Row => [`made ${-by} s ago`, moved(by), 'expired']),
    ...[6, 31_536_000].map((by): Row => [`made ${by} s ahead`, moved(by), 'not_yet_valid']),
    ['issued 6 s ahead', changed(target, { iat: now + 6, exp: now + 16 }), 'not_yet_valid'],
    ['that lives 16 s', changed(target, { exp: now + 16 })],
  ])
}

/** Other spellings of one name, and what is no name. */
const lookalikes = (name: string) => [name.toUpperCase(), `${name} `, [name], undefined]

function parties(target: Target): BadToken[] {
  const { clientId, issuer, organisationId } = target
  const bySister = signTexts(HEADER, JSON.stringify({ ...goodClaims(target), aud: 'evening' }), SISTER_SECRET)
  const rows = (claim: string, values: unknown[]) =>
    values.map((value): Row => [`${JSON.stringify(value)}`, changed(target, { [claim]: value })])
  return [
    ...group('iss', 'issuer', rows('iss', [...lookalikes(issuer), organisationId])),
    ...group('aud', 'audience', [
      ...rows('aud', [...lookalikes(clientId), 'evening', issuer]),
      ['a sister site, signed with its own secret', bySister, 'signature'],
      ['said as cid only', changed(target, { aud: undefined, cid: clientId })],
    ]),
  ]
}

function prototypes(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const lent = ['iss', 'aud', 'exp', subjectOf(target), 'sts'].map((name): Row => {
    const text = JSON.stringify({ ...claims, [name]: undefined })
    const carried = text.replace('{', `{"__proto__":${JSON.stringify({ [name]: claims[name], polluted: true })},`)
    const reason = name === 'iss' ? 'issuer' : name === 'aud' ? 'audience' : 'claims'
    return [`${name} lent by __proto__`, signTexts(HEADER, carried, target.secrets[0]), reason]
  })
  const named = ['__proto__', 'toString'].map((word): Row => [`sts is ${word}`, changed(target, { sts: word })])
  return group('prototype', 'claims', [...lent, ...named])
}

/** Our own requests come back: each user sees the one of Identify, and all are signed with the same secret. */
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
  const rows = Object.entries(requests).flatMap(([name, request]): Row[] => [
    [`the request of ${name}`, signClaims(target, request)],
    [`the request of ${name} from the right issuer`, signClaims(target, { ...request, ...answer, iss: issuer })],
    [`the request of ${name} for us`, signClaims(target, { ...request, ...answer, aud: clientId }), 'issuer'],
  ])
  return group('reflection', 'audience', rows)
}

/** No answer at all. Which answers fit which request is a table in test/unit/tokens.test.ts. */
function otherAnswers(target: Target): BadToken[] {
  const security = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const { sts: _sts, ...bare } = goodClaims(target)
  return group('other-answer', 'claims', [
    ['a logout token of OpenID Connect', signClaims(target, { ...bare, events: security, jti: '1', sub: 'ada' })],
    ['nothing but issuer, audience and times', signClaims(target, envelopeOf(target))],
    ['an error with a ticket', changed(target, { err: 'a_code_of_tomorrow', at: target.ticket })],
    ['no claim at all', signTexts(HEADER, '{}', target.secrets[0]), 'audience'],
  ])
}

/** Answers about another session or account. The landing has asked about none. Threat L8. */
function subjects(target: Target): BadToken[] {
  if (target.operation === 'identify') return []
  const name = subjectOf(target)
  const asked = target[name]
  const others = [`${asked}x`, asked.slice(0, -1), asked.toUpperCase(), ` ${asked}`, '*']
  const { [name]: _own, ...rest } = goodClaims(target)
  const otherName = name === 'sid' ? 'aid' : 'sid'
  return group('subject', 'session_mismatch', [
    ...others.map((other): Row => [JSON.stringify(other), changed(target, { [name]: other })]),
    ['another one with an error', changed(target, { [name]: 'other', sts: 'anon', at: null, err: 'invalid_token' })],
    ['said under the other name', signClaims(target, { ...rest, [otherName]: asked }), 'claims'],
    ['said in capitals', signClaims(target, { ...rest, [name.toUpperCase()]: asked }), 'claims'],
  ])
}
