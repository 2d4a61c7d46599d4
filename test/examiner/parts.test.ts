import type { Hop } from '../../lib/examiner/browser'
import { Cookies } from '../../lib/examiner/cookies'
import { showsUser } from '../../lib/examiner/facts'
import { formsOf, visibleText } from '../../lib/examiner/html'
import { responseOf } from '../../lib/examiner/outcome'
import { Platform } from '../../lib/examiner/platform'
import { linesWith } from '../../lib/examiner/secrets'
import { Seen } from '../../lib/examiner/seen'
import { readSettings } from '../../lib/examiner/settings'

/* What the examiner makes of pages, cookies, tokens and settings that sites and users give it. */

const base = 'http://site.localhost:8080/shop/'

test.each<[what: string, inside: string, fields: string[]]>([
  ['quotes of both kinds and none', `<input name='a' value="&quot;1&quot;" type=HIDDEN>`, ['a hidden "1"']],
  ['a disabled field', '<input name=a disabled>', []],
  ['the first button alone', '<button name=a value=1>A</button><input type=submit name=b value=2>', ['a submit 1']],
  ['no other button', '<input type=image name=a><button type=button name=b></button><input type=reset name=c>', []],
  [
    'what is checked',
    '<input type=checkbox name=a value=1 checked><input type=radio name=b value=2>',
    ['a checkbox 1'],
  ],
  ['a text area', '<textarea name=a>1 &lt; 2</textarea>', ['a textarea 1 < 2']],
  ['the selected option', '<select name=a><option>1<option value=2 selected>two</select>', ['a select 2']],
])('a form sends %s', (_what, inside, fields) => {
  const [form] = formsOf(`<form>${inside}</form>`, base)
  expect(form?.fields.map(({ name, type, value }) => `${name} ${type} ${value}`)).toEqual(fields)
})

test.each([
  ['<form method=get action="">', `GET ${base}`],
  ['<form method=Post action="/login?a&amp;b">', 'POST http://site.localhost:8080/login?a&b'],
  ['<form action="http://[">', `GET ${base}`],
])('%s is sent to %s', (tag, expected) => {
  const forms = formsOf(`<!-- <form> -->${tag}</form><script>"<form></form>"</script>`, base)
  expect(forms.map(({ method, action }) => `${method} ${action}`)).toEqual([expected])
})

test.each([
  ['&amp;&#65;&#x42;&AMP;', '&AB&'],
  ['&none; &#0; &#x110000;', '&none; &#0; &#x110000;'],
  ['<style>a</style>b<br>c', 'b c'],
])('the text of %s is %s', (html, text) => {
  expect(visibleText(html)).toBe(text)
})

test.each([
  ['a=1=2; Path=/shop', '/shop', 'a=1=2'],
  ['a=1; path=/shop/', '/shop/cart', 'a=1'],
  ['a=1; path=/shop', '/shopping', ''],
  ['a=1; Max-Age=0', '/', ''],
  ['a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT', '/', 'a=1'],
  ['a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT', '/', ''],
  ['a', '/', ''],
])('after Set-Cookie: %s a browser sends to %s: %j', (line, path, expected) => {
  const cookies = new Cookies()
  cookies.take(new URL(base), [line])
  expect(cookies.header(new URL(path, base))).toBe(expected)
})

test.each([
  [500, '', 'responds 500'],
  [0, 'ECONNRESET', 'gives no response (ECONNRESET)'],
  [0, 'no response within 20 s', 'gives no response within 20 s'],
])('with status %d and %j a page %s', (status, error, expected) => {
  expect(responseOf({ status, error })).toBe(expected)
})

test('a line of a log is shown from its beginning, without its secrets', () => {
  const sid = 'gavXttd5jpELevP8VdpFJg'
  const line = `WARNING: authenticate failed for ${sid} ${'of the site '.repeat(12)}, password=a-b, the-secret, at the end`
  const [shown] = linesWith(`before\n${line}\n`, 'the-secret')
  expect(shown).toMatch(/^WARNING: authenticate failed for <…> .* … .*, password=\*\*\* <secret>, at the end$/)
})

test.each([
  ['repeats', '/?password=Pw-Jelk-1000-made-up', 0],
  ['does not have', '/', 1],
])('a page that shows a password, which its own address %s', (_does, address, count) => {
  const seen = new Seen(new Platform(base, '/landing'), readSettings({}))
  const text = '<a href="/?back=Pw-Jelk-1000-made-up">'
  const hop = {
    method: 'GET',
    url: new URL(address, new URL(base).origin),
    status: 200,
    headers: {},
    setCookie: [],
    text,
  }
  seen.add(hop as unknown as Hop, 'login/right-password')
  expect(seen.secrets).toHaveLength(count)
})

const [loggedIn, loggedOut] = ['Log out', 'Log in']

test.each<[text: string, status: number, settings: Parameters<typeof showsUser>[2], isShown: boolean]>([
  ['Hello Ada', 200, {}, true],
  ['Hello you', 200, {}, false],
  ['Log out', 200, { loggedIn }, true],
  ['Hello you', 200, { loggedOut }, true],
  ['Hello Ada', 500, { loggedOut }, false],
  ['Log in or Log out', 200, { loggedIn, loggedOut }, false],
])('%j with status %d and %j shows the user: %s', (text, status, settings, isShown) => {
  const account = { name: 'Ada', username: 'ada@example.com', accountId: 'acct-1', password: 'secret' }
  expect(showsUser({ text, status }, account, settings)).toBe(isShown)
})

test.each([
  [{ recheckSeconds: -1 }, 'recheckSeconds: '],
  [{ login: { name: 'a' } }, 'login: '],
])('examine.json with %j is refused', (settings, message) => {
  expect(() => readSettings(settings)).toThrow(message)
})
