import { type MacKeys, SignedCookie, sign } from '../../lib/decide/signed-cookie'

const keys: MacKeys = [Buffer.alloc(32, 1)]
const other: MacKeys = [Buffer.alloc(32, 2)]
interface Name {
  readonly name: string
}
const readName = ({ name }: Readonly<Record<string, unknown>>): Name | undefined =>
  typeof name === 'string' ? { name } : undefined
const cookieOf = (by = keys) => new SignedCookie(by, 'logout', readName)
const written = cookieOf().write({ name: 'Åse' })

test('a cookie is read as it was written, and has only characters that a cookie may have', () => {
  expect(cookieOf().read(written)).toEqual({ name: 'Åse' })
  expect(written).toMatch(/^[\w-]+\.[\w-]{22}$/)
})

const [body = '', mac = ''] = written.split('.')
test.each<[what: string, text: string | undefined]>([
  ['no cookie', undefined],
  ['a body without a MAC', body],
  ['another body', `${Buffer.from('{"name":"ada"}').toString('base64url')}.${mac}`],
  ['a further part', `${written}.x`],
  ['a cookie of another site', cookieOf(other).write({ name: 'a' })],
  ['a cookie of another purpose', new SignedCookie(keys, 'loop', readName).write({ name: 'a' })],
  ['a signed value of another form', new SignedCookie(keys, 'logout', readName).write({ named: 1 } as never)],
])('%s is nothing', (_what, text) => {
  expect(cookieOf().read(text)).toBeUndefined()
})

test('what is signed but no JSON object is nothing', () => {
  for (const json of ['', 'x', '[]', '"a"', '1', 'null']) {
    const value = Buffer.from(json).toString('base64url')
    expect(cookieOf().read(`${value}.${sign(keys, 'logout', value)}`)).toBeUndefined()
  }
})

test('while secrets are rotated an old cookie is read, and a new one has the first secret', () => {
  expect(cookieOf([...other, ...keys]).read(written)).toEqual({ name: 'Åse' })
  expect(cookieOf().read(cookieOf([...other, ...keys]).write({ name: 'a' }))).toBeUndefined()
})
