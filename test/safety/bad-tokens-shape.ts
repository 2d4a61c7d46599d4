import {
  type BadToken,
  encode,
  goodClaims,
  group,
  HEADER,
  hmac,
  partsOf,
  type Row,
  signClaims,
  signSegments,
  signTexts,
  type Target,
} from './bad-tokens'

/** Bad tokens whose fault is in their bytes: header, encoding, JSON, size. */
export function badShapes(target: Target): BadToken[] {
  return [...headers(target), ...encodings(target), ...payloads(target), ...duplicates(target), ...sizes(target)]
}

function headers(target: Target): BadToken[] {
  const payload = JSON.stringify(goodClaims(target))
  const [secret] = target.secrets
  const made = (header: string | Uint8Array) => signTexts(header, payload, secret)
  const members = ['"crit":[]', '"crit":["exp"]', '"crit":["b64"],"b64":false', '"crit":null', '"crit":"exp"']
  members.push(
    '"crit":{}',
    '"crit":["b64","b64"]',
    '"b64":false',
    '"b64":true',
    '"b64":null',
    '"zip":"DEF"',
    '"zip":null',
  )
  members.push('"zip":"none"', '"cty":"JWT"', '"cty":"application/json"', '"cty":null', '"\\u0063rit":["exp"]')
  const types = [
    '"jwt"',
    '"Jwt"',
    '"JWT "',
    '"JOSE"',
    '"JWE"',
    '"at+jwt"',
    '"application/jwt"',
    '"logout+jwt"',
    'null',
    '1',
  ]
  types.push('["JWT"]', '{}', '""', 'true', '"JWT\\u0000"')
  const shapes: [string, string | Uint8Array][] = [
    ['an array', `[${HEADER}]`],
    ['null', 'null'],
    ['a number', '1'],
    ['a text', '"HS256"'],
    ['no JSON', '{alg:"HS256",typ:"JWT"}'],
    ['single quotes', HEADER.replaceAll('"', "'")],
    ['a trailing comma', '{"alg":"HS256","typ":"JWT",}'],
    ['a comment', '{"alg":"HS256",/**/"typ":"JWT"}'],
    ['two objects', HEADER + HEADER],
    ['cut off', HEADER.slice(0, -1)],
    ['a NUL at its end', `${HEADER}\u0000`],
    ['a byte order mark', `\ufeff${HEADER}`],
    ['UTF-16', Buffer.from(HEADER, 'utf16le')],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${HEADER}`, 'utf16le')],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from('{"alg":"HS256","typ":"JWT","x":"'), Buffer.from([0xff, 0x22, 0x7d])]),
    ],
    ['alg twice, the right one last', '{"alg":"none","typ":"JWT","alg":"HS256"}'],
    ['alg twice, the right one first', '{"alg":"HS256","typ":"JWT","alg":"none"}'],
    ['alg twice alike', '{"alg":"HS256","typ":"JWT","alg":"HS256"}'],
    ['alg twice, once as an escape', '{"\\u0061lg":"none","typ":"JWT","alg":"HS256"}'],
    ['kid twice', '{"alg":"HS256","typ":"JWT","kid":"1","kid":"2"}'],
    ['a nested token', `${encode(HEADER)}.${encode(HEADER)}.x`],
  ]
  return group('header', [
    ...members.map((text): Row => [`with ${text}`, made(`{"alg":"HS256","typ":"JWT",${text}}`), 'malformed']),
    ...types.map((typ): Row => [`of the type ${typ}`, made(`{"alg":"HS256","typ":${typ}}`), 'malformed']),
    ['without a type', made('{"alg":"HS256"}'), 'malformed'],
    ['with a type lent by __proto__', made('{"alg":"HS256","__proto__":{"typ":"JWT"}}'), 'malformed'],
    ...shapes.map(([name, header]): Row => [`of ${name}`, made(header), 'malformed', 'algorithm']),
  ])
}

/** A last character that decodes to the same bytes, with bits that stand for nothing. */
function withUnusedBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const last = alphabet.indexOf(segment.slice(-1))
  return segment.slice(0, -1) + alphabet[segment.length % 4 === 0 ? (last + 1) % 64 : last + 1]
}

function encodings(target: Target): BadToken[] {
  const [head, body, signature] = partsOf(target)
  const good = `${head}.${body}.${signature}`
  const [secret] = target.secrets
  const resigned = (h: string, b: string) => signSegments(h, b, secret)
  const standard = Buffer.from(hmac(`${head}.${body}`, secret), 'base64url').toString('base64')
  const spaces: [string, string][] = [
    ['a space', ' '],
    ['a line break', '\n'],
    ['CR LF', '\r\n'],
    ['a tab', '\t'],
    ['a NUL', '\u0000'],
    ['a no-break space', '\u00a0'],
    ['a zero-width space', '\u200b'],
    ['a byte order mark', '\ufeff'],
    ['a plus sign', '+'],
    ['an encoded space', '%20'],
    ['a full-width letter', 'Ａ'],
  ]
  const json = { payload: body, protected: head, signature }
  const rows: Row[] = spaces.flatMap(([name, space]): Row[] => [
    [`${name} before`, space + good, 'malformed'],
    [`${name} after`, good + space, 'malformed'],
    [`${name} in the header, signed`, resigned(`${head.slice(0, 8)}${space}${head.slice(8)}`, body), 'malformed'],
    [`${name} in the payload, signed`, resigned(head, `${body.slice(0, 8)}${space}${body.slice(8)}`), 'malformed'],
    [`${name} in the signature`, `${head}.${body}.${signature.slice(0, 8)}${space}${signature.slice(8)}`, 'malformed'],
  ])
  return group('encoding', [
    ...rows,
    ['nothing', '', 'malformed'],
    ['one dot', '.', 'malformed'],
    ['two dots', '..', 'malformed'],
    ['three dots', '...', 'malformed'],
    ['one segment', head, 'malformed'],
    ['two segments', `${head}.${body}`, 'malformed'],
    ['four segments', `${good}.${signature}`, 'malformed'],
    ['an empty fourth segment', `${good}.`, 'malformed'],
    ['an empty first segment', `.${good}`, 'malformed'],
    ['an empty header', `.${body}.${signature}`, 'malformed'],
    ['an empty payload', `${head}..${signature}`, 'malformed'],
    ['an empty signature', `${head}.${body}.`, 'malformed'],
    ['an empty payload, signed', resigned(head, ''), 'malformed'],
    ['the token twice', `${good}.${good}`, 'malformed'],
    ['two tokens with a comma', `${good},${good}`, 'malformed'],
    ['padding on the signature', `${good}=`, 'malformed'],
    ['padding on the header, signed', resigned(`${head}=`, body), 'malformed'],
    ['padding on the payload, signed', resigned(head, `${body}==`), 'malformed'],
    ['unused bits in the signature', `${head}.${body}.${withUnusedBits(signature)}`, 'malformed'],
    ['the other alphabet for the signature', `${head}.${body}.${standard}`, 'malformed'],
    ['the other alphabet, unpadded', `${head}.${body}.+/${signature.slice(2)}`, 'malformed'],
    [
      'a signature in hexadecimal',
      `${head}.${body}.${Buffer.from(signature, 'base64url').toString('hex')}`,
      'signature',
    ],
    ['the parts in the clear', `${HEADER}.${JSON.stringify(goodClaims(target))}.${signature}`, 'malformed'],
    ['percent signs for the dots', good.replaceAll('.', '%2E'), 'malformed'],
    ['other full stops', good.replaceAll('.', '\u3002'), 'malformed'],
    ['the word Bearer before', `Bearer ${good}`, 'malformed'],
    ['quotes around', `"${good}"`, 'malformed'],
    ['the scheme of a JWT before', `urn:jwt:${good}`, 'malformed'],
    ['flattened JSON', JSON.stringify(json), 'malformed'],
    ['general JSON', JSON.stringify({ payload: body, signatures: [{ protected: head, signature }] }), 'malformed'],
    [
      'an encrypted token of five segments',
      `${encode('{"alg":"dir","enc":"A256GCM"}')}..${body}.${body}.${signature}`,
      'malformed',
    ],
    ['a token in a token', resigned(head, encode(good)), 'malformed'],
    ['a token in a token as JSON text', resigned(head, encode(JSON.stringify(good))), 'malformed'],
  ])
}

function payloads(target: Target): BadToken[] {
  const text = JSON.stringify(goodClaims(target))
  const [secret] = target.secrets
  const within = (...bytes: number[]) =>
    Buffer.concat([Buffer.from(`${text.slice(0, -1)},"x":"`), Buffer.from(bytes), Buffer.from('"}')])
  const swapped = Buffer.from(text, 'utf16le').swap16()
  const rows: [string, string | Uint8Array][] = [
    ['a byte order mark', `\ufeff${text}`],
    ['two byte order marks', `\ufeff\ufeff${text}`],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, big end first', swapped],
    ['UTF-16, big end first, with its mark', Buffer.concat([Buffer.from([0xfe, 0xff]), swapped])],
    ['UTF-32', Buffer.from([...text].flatMap((one) => [one.charCodeAt(0), 0, 0, 0]))],
    ['Latin-1', within(0xe5)],
    ['a byte that is never UTF-8', within(0xff)],
    ['an over-long slash', within(0xc0, 0xaf)],
    ['an over-long NUL', within(0xc0, 0x80)],
    ['half a pair of surrogates', within(0xed, 0xa0, 0x80)],
    ['a character that is cut off', within(0xe2, 0x82)],
    ['a character beyond the last', within(0xf4, 0x90, 0x80, 0x80)],
    ['a raw control character', within(0x01)],
    ['a raw line break in a text', within(0x0a)],
    ['an array', `[${text}]`],
    ['an empty array', '[]'],
    ['null', 'null'],
    ['true', 'true'],
    ['a number', '1'],
    ['a text', '"text"'],
    ['claims in a text', JSON.stringify(text)],
    ['no JSON', 'claims'],
    ['white space', ' '],
    ['one NUL', '\u0000'],
    ['claims and a NUL', `${text}\u0000`],
    ['claims twice', text + text],
    ['claims on two lines', `${text}\n${text}`],
    ['claims cut off', text.slice(0, -1)],
    ['a trailing comma', `${text.slice(0, -1)},}`],
    ['a comment', `${text.slice(0, -1)}/* */}`],
    ['single quotes', text.replaceAll('"', "'")],
    ['NaN', `${text.slice(0, -1)},"x":NaN}`],
    ['Infinity', `${text.slice(0, -1)},"x":Infinity}`],
    ['a number in hexadecimal', `${text.slice(0, -1)},"x":0x10}`],
    ['a number with a leading zero', `${text.slice(0, -1)},"x":010}`],
    ['a number with a leading plus', `${text.slice(0, -1)},"x":+1}`],
    ['a call in front, as JSONP', `callback(${text})`],
    ['XML', '<claims sts="loggedin"/>'],
    ['a form', new URLSearchParams(JSON.parse(text)).toString()],
  ]
  return group(
    'payload',
    rows.map(([name, payload]) => [name, signTexts(HEADER, payload, secret), 'malformed']),
  )
}

function duplicates(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const text = JSON.stringify(claims)
  const [secret] = target.secrets
  const made = (payload: string) => signTexts(HEADER, payload, secret)
  const escaped = (name: string) => `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`
  const rows = Object.keys(claims).flatMap((name): Row[] => [
    [`${name}, another value first`, made(text.replace('{', `{"${name}":"x",`)), 'malformed'],
    [`${name}, another value last`, made(`${text.slice(0, -1)},"${name}":"x"}`), 'malformed'],
    [`${name}, the first as an escape`, made(text.replace('{', `{"${escaped(name)}":"x",`)), 'malformed'],
    [`${name}, the same value`, made(text.replace('{', `{"${name}":${JSON.stringify(claims[name])},`)), 'malformed'],
  ])
  return group('duplicate', [
    ...rows,
    ['a claim nobody knows', made(text.replace('{', '{"x":1,"x":2,')), 'malformed'],
    ['__proto__', made(text.replace('{', '{"__proto__":1,"__proto__":2,')), 'malformed'],
    ['the empty name', made(text.replace('{', '{"":1,"":2,')), 'malformed'],
    ['with a nested object between', made(text.replace('{', '{"sts":"x","y":{"sts":[{"a":"}"}]},')), 'malformed'],
    ['with quotes in a text between', made(text.replace('{', '{"sts":"x","y":"\\"}{\\\\",')), 'malformed'],
    ['with white space before the colon', made(text.replace('{', '{ "sts" \n : "x" , ')), 'malformed'],
  ])
}

function sizes(target: Target): BadToken[] {
  const claims = goodClaims(target)
  const good = signClaims(target, claims)
  const padded = (size: number) => signClaims(target, { ...claims, pad: 'x'.repeat(Math.ceil((size * 3) / 4)) })
  const many = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`c${index}`, index]))
  const deep = `${'{"a":'.repeat(1500)}1${'}'.repeat(1500)}`
  const text = JSON.stringify(claims)
  return group('size', [
    ['8 KiB of padding', padded(8192), 'malformed'],
    ['11 KiB of padding', padded(11_000), 'malformed'],
    [
      'a long header',
      signClaims(target, claims, `{"alg":"HS256","typ":"JWT","kid":"${'k'.repeat(7000)}"}`),
      'malformed',
    ],
    ['a long signature', good + 'A'.repeat(8192), 'malformed'],
    ['seven hundred claims', signClaims(target, { ...many, ...claims }), 'malformed'],
    ['objects nested 1500 deep', signTexts(HEADER, text.replace('{', `{"x":${deep},`), target.secrets[0]), 'malformed'],
    ['8193 letters', 'A'.repeat(8193), 'malformed'],
    ['10,000 dots', '.'.repeat(10_000), 'malformed'],
  ])
}
