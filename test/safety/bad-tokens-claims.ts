import {
  type BadToken,
  changed,
  goodClaims,
  group,
  HEADER,
  type Row,
  signTexts,
  spelled,
  subjectOf,
  type Target,
} from './bad-tokens'

/** Bad tokens that are signed as they should be; their fault is in what they say. */
export function badClaims(target: Target): BadToken[] {
  return [...types(target), ...times(target), ...parties(target), ...prototypes(target)]
}

const WRONG_TIMES = [
  'null',
  'true',
  'false',
  '[NOW]',
  '{}',
  '""',
  '"NOW"',
  '"NOW.0"',
  'NOW.5',
  '-1',
  '-NOW',
  '1e400',
  '-1e400',
]
WRONG_TIMES.push('1e300', '9007199254740993', '"1e400"', '"Infinity"', '{"$gt":0}')

function types(target: Target): BadToken[] {
  const subject = subjectOf(target)
  const { sid } = target
  const wrongTexts: [string, unknown][] = [
    ['a number', 7],
    ['zero', 0],
    ['true', true],
    ['false', false],
    ['an empty array', []],
    ['an array of a text', [sid]],
    ['an object', { $ne: null }],
    ['an object that prints a text', { toString: sid }],
    ['empty', ''],
    ['a text with a NUL', `${sid}\u0000`],
    ['a text with a line break', `${sid}\r\nSet-Cookie: a=b`],
    ['a text with an escape', `\u001b[31m${sid}`],
    ['a text with a delete character', `${sid}\u007f`],
  ]
  const longTexts: [string, string, unknown][] = [
    [subject, 'longer than 512 characters', 's'.repeat(513)],
    ['at', 'longer than 4096 characters', 't'.repeat(4097)],
    ['err', 'longer than 128 characters', 'e'.repeat(129)],
  ]
  const wrongStatus = [
    'ANON',
    'Anon',
    'LoggedIn',
    'loggedin ',
    ' loggedin',
    'logged_in',
    'active',
    '',
    '1',
    1,
    0,
    true,
    null,
  ]
  const statuses: unknown[] = [
    ...wrongStatus,
    ['loggedin'],
    { loggedin: true },
    'loggedin\u0000',
    'l\u043eggedin',
    undefined,
  ]
  const timeRows = ['nbf', 'iat', 'exp'].flatMap((name): Row[] => [
    ...WRONG_TIMES.map((value): Row => {
      const text = value.replaceAll('NOW', String(target.now))
      return [`${name} as ${value}`, spelled(target, name, text), 'claims']
    }),
    [`${name} missing`, changed(target, { [name]: undefined }), 'claims'],
    [`${name} in milliseconds`, changed(target, { [name]: target.now * 1000 }), 'claims', 'not_yet_valid'],
  ])
  return [
    ...group('time', timeRows),
    ...group('type', [
      ...[subject, 'at', 'err'].flatMap((name) =>
        wrongTexts.map(([kind, value]): Row => [`${name} is ${kind}`, changed(target, { [name]: value }), 'claims']),
      ),
      ...longTexts.map(
        ([name, kind, value]): Row => [`${name} is ${kind}`, changed(target, { [name]: value }), 'claims'],
      ),
      [`${subject} is null`, changed(target, { [subject]: null }), 'claims'],
      [`${subject} is missing`, changed(target, { [subject]: undefined }), 'claims'],
      ...statuses.map((sts): Row => [`sts is ${JSON.stringify(sts)}`, changed(target, { sts }), 'claims']),
    ]),
  ]
}

function times(target: Target): BadToken[] {
  const { now } = target
  const moved = (seconds: number) =>
    changed(target, { nbf: now + seconds, iat: now + seconds, exp: now + seconds + 10 })
  return group('time', [
    ...[-15, -16, -61, -120, -3600, -86_400].map((by): Row => [`made ${-by} s ago`, moved(by), 'expired']),
    ...[6, 10, 61, 3600, 31_536_000].map((by): Row => [`made ${by} s ahead`, moved(by), 'not_yet_valid']),
    ['valid only from 6 s ahead', changed(target, { nbf: now + 6 }), 'not_yet_valid'],
    ['issued 6 s ahead', changed(target, { iat: now + 6, exp: now + 16 }), 'not_yet_valid'],
    ['that lives 16 s', changed(target, { exp: now + 16 }), 'claims'],
    ['that lives a day', changed(target, { exp: now + 86_400 }), 'claims'],
    ['that lives for ever', changed(target, { exp: Number.MAX_SAFE_INTEGER }), 'claims'],
    ['that lives since 1970', changed(target, { nbf: 0, iat: 0 }), 'claims'],
    ['of 1970', changed(target, { nbf: 0, iat: 0, exp: 10 }), 'expired'],
    ['that ends as it begins', changed(target, { exp: now }), 'claims'],
    ['that ends before it begins', changed(target, { exp: now - 1 }), 'claims'],
    ['that names no time at all', changed(target, { nbf: undefined, iat: undefined, exp: undefined }), 'claims'],
  ])
}

/** Other spellings of one name. */
function lookalikes(name: string): [string, unknown][] {
  return [
    ['in capitals', name.toUpperCase()],
    ['with a space after', `${name} `],
    ['with a space before', ` ${name}`],
    ['with a NUL after', `${name}\u0000`],
    ['with a line break after', `${name}\n`],
    ['with a slash after', `${name}/`],
    ['with a dot after', `${name}.`],
    ['without its last letter', name.slice(0, -1)],
    ['with a letter more', `${name}x`],
    ['with a zero-width space', `${name}\u200b`],
    ['with a letter of another alphabet', name.replace(/[aeo]/, (letter) => (letter === 'e' ? '\u0435' : '\u043e'))],
    ['as an address', `https://${name}`],
    ['in an array', [name]],
    ['in an array with another', [name, 'other']],
    ['in an array, last', ['other', name]],
    ['in a nested array', [[name]]],
    ['as a list in a text', `other ${name}`],
    ['as an object', { [name]: true }],
    ['as the pattern of all', '*'],
    ['empty', ''],
    ['null', null],
    ['true', true],
    ['a number', 1],
    ['missing', undefined],
    ['an empty array', []],
  ]
}

function parties(target: Target): BadToken[] {
  const { clientId, issuer, organisationId } = target
  return [
    ...group('iss', [
      ...lookalikes(issuer).map(([name, iss]): Row => [name, changed(target, { iss }), 'issuer']),
      ['the client', changed(target, { iss: clientId }), 'issuer'],
      ['the organisation', changed(target, { iss: organisationId }), 'issuer'],
      ['under another name', changed(target, { iss: undefined, ISS: issuer, issuer }), 'issuer'],
    ]),
    ...group('aud', [
      ...lookalikes(clientId).map(([name, aud]): Row => [name, changed(target, { aud }), 'audience']),
      ['a sister site', changed(target, { aud: 'evening' }), 'audience'],
      ['the SSO system', changed(target, { aud: issuer }), 'audience'],
      ['the organisation', changed(target, { aud: organisationId }), 'audience'],
      ['said as cid only', changed(target, { aud: undefined, cid: clientId }), 'audience'],
      ['another, with our cid', changed(target, { aud: 'other', cid: clientId, azp: clientId }), 'audience'],
    ]),
  ]
}

function prototypes(target: Target): BadToken[] {
  const { now } = target
  const claims = goodClaims(target)
  const words = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype']
  const lent = ['iss', 'aud', 'nbf', 'iat', 'exp', subjectOf(target), 'sts'].map((name): Row => {
    const text = JSON.stringify({ ...claims, [name]: undefined })
    const carried = text.replace('{', `{"__proto__":${JSON.stringify({ [name]: claims[name], polluted: true })},`)
    const reason = name === 'iss' ? 'issuer' : name === 'aud' ? 'audience' : 'claims'
    return [`${name} lent by __proto__`, signTexts(HEADER, carried, target.secrets[0]), reason]
  })
  const buried = `{"constructor":{"prototype":{"polluted":true,"exp":${now + 10}}},`
  const text = JSON.stringify({ ...claims, exp: undefined }).replace('{', buried)
  return group('prototype', [
    ...lent,
    ['exp lent by the constructor', signTexts(HEADER, text, target.secrets[0]), 'claims'],
    ...words.flatMap((word): Row[] => [
      [`sts is ${word}`, changed(target, { sts: word }), 'claims'],
      [`iss is ${word}`, changed(target, { iss: word }), 'issuer'],
      [`aud is ${word}`, changed(target, { aud: word }), 'audience'],
    ]),
  ])
}
