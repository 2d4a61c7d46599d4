import child from 'node:child_process'
import dns from 'node:dns'
import { once } from 'node:events'
import fs from 'node:fs'
import http, { type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { Sso2Client, type Sso2Options, sso2 } from '../../lib'
import { Sso2ConfigError, Sso2ResponseError, TokenError } from '../../lib/errors'
import { isSignedWith, signJwt } from '../support/oracle'
import { goodClaims, signClaims, type Target } from './bad-tokens'
import { badTokens } from './bad-tokens-corpus'

const now = 1_800_000_000
const clock = { now: () => now * 1000 }
const device = { ipa: '192.0.2.1', uas: 'Mozilla/5.0' }
const target: Target = {
  operation: 'identify',
  issuer: 'sso-service',
  clientId: 'morning',
  organisationId: 'demo-press',
  secrets: ['the-secret-of-this-year-0123456789-abc', 'the-secret-of-last-year-0123456789-abc'],
  now,
  sid: 'a-session-of-the-sso-system',
  aid: 'account-ada',
  ticket: 'a-ticket',
}
const clientOf = (ssoUrl: string, clientSecret: string | readonly string[] = target.secrets) =>
  new Sso2Client({ ssoUrl, clientId: 'morning', clientSecret, organisationId: 'demo-press', clock })

test('[T15] nothing of a payload is read before its signature fits', () => {
  const client = clientOf('http://127.0.0.1:9/sso')
  const token = signClaims(target, goodClaims(target))
  const [header = '', payload = '', signature = ''] = token.split('.')
  const forged = Buffer.from(signature, 'base64url').map((byte, index) => (index === 31 ? byte ^ 1 : byte))
  const parse = jest.spyOn(JSON, 'parse')
  try {
    expect(() => client.readLanding(`${header}.${payload}.${Buffer.from(forged).toString('base64url')}`)).toThrow(
      new TokenError('signature'),
    )
    const claims = Buffer.from(payload, 'base64url').toString()
    expect(parse.mock.calls.map(([text]) => text)).not.toContain(claims)
    client.readLanding(token)
    expect(parse.mock.calls.map(([text]) => text)).toContain(claims)
  } finally {
    parse.mockRestore()
  }
})

test('[T3] no token, whatever its header names, makes the reader touch network, files or processes', () => {
  const client = clientOf('http://127.0.0.1:9/sso')
  const tokens = badTokens(target).map(({ token }) => token)
  const read = (token: unknown) => {
    try {
      return client.readLanding(token).sts
    } catch (error) {
      if (error instanceof TokenError) return error.reason
      throw error
    }
  }
  read(signClaims(target, goodClaims(target)))
  const watched: [object, string[]][] = [
    [
      fs,
      Object.keys(fs).filter((name) => /^(open|read|stat|lstat|access|exists|realpath|create|write|watch)/.test(name)),
    ],
    [fs.promises, ['open', 'readFile', 'stat', 'access']],
    [net.Socket.prototype, ['connect']],
    [dns, ['lookup', 'resolve']],
    [http, ['request', 'get']],
    [child, ['spawn', 'exec', 'execFile', 'spawnSync', 'execSync']],
    [globalThis, ['fetch']],
  ]
  const spies = watched.flatMap(([owner, names]) => names.map((name) => jest.spyOn(owner as never, name as never)))
  try {
    const reasons = tokens.map(read)
    expect(spies.map((spy) => spy.mock.calls.length).reduce((sum, calls) => sum + calls, 0)).toBe(0)
    expect(reasons.filter((reason) => reason === 'signature').length).toBeGreaterThan(30)
    fs.existsSync('/')
    expect(spies.some((spy) => spy.mock.calls.length > 0)).toBe(true)
  } finally {
    for (const spy of spies) spy.mockRestore()
    client.close()
  }
})

describe('[T14] an answer of the back channel that is too large', () => {
  let server: http.Server
  let send: (res: ServerResponse) => void
  const collect = (() => {
    setFlagsFromString('--expose-gc')
    return runInNewContext('gc') as () => void
  })()
  beforeAll(async () => {
    server = http.createServer((req, res) => {
      res.on('error', () => {})
      req.resume().once('end', () => send(res))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })

  const good = signClaims(target, goodClaims(target))
  const bomb = gzipSync(Buffer.concat([Buffer.from(`{"t":"${good}","x":"`), Buffer.alloc(64 * 1024 * 1024, 0x61)]))
  const chunk = Buffer.alloc(16_384, 0x20)
  const pour = (res: ServerResponse) => {
    if (res.destroyed) return
    res.write(chunk, () => setImmediate(pour, res))
  }
  const bodies: [string, (res: ServerResponse) => void][] = [
    ['a body of 1 MiB', (res) => res.end(JSON.stringify({ t: good, x: 'x'.repeat(1024 * 1024) }))],
    ['a token of 1 MiB', (res) => res.end(JSON.stringify({ t: good + 'A'.repeat(1024 * 1024) }))],
    ['a body just over 64 KiB', (res) => res.end(JSON.stringify({ t: good, x: 'x'.repeat(65_536) }))],
    ['an endless body', pour],
    [
      'a body that unpacks to 64 MiB',
      (res) => {
        res.setHeader('content-encoding', 'gzip')
        res.end(bomb)
      },
    ],
  ]
  test.each(bodies)('%s is refused, soon and without filling the memory', async (_name, body) => {
    // a client of its own each time: several such answers in a row are an outage to it
    const ask = async () => {
      const client = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}/sso`)
      try {
        return await client.sessionStatus({ sid: target.sid, lks: 'anon', ...device })
      } finally {
        expect(client.isAvailable).toBe(true)
        client.close()
      }
    }
    const refuse = async () => expect(await ask().catch((error: unknown) => error)).toBeInstanceOf(Sso2ResponseError)
    send = body
    await refuse()
    collect()
    const before = process.memoryUsage().heapUsed
    const took: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const started = performance.now()
      await refuse()
      took.push(performance.now() - started)
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5 * 1024 * 1024)
    // the third of five: a busy machine keeps one or two of them back
    expect(took.sort((a, b) => a - b)[2]).toBeLessThan(500)
    send = (res) => res.end(JSON.stringify({ t: good }))
    expect((await ask()).sid).toBe(target.sid)
  })
})

describe('[T13] the client secret', () => {
  const strong = 'Zq3-vT9w_Kx7RbN2mLc8Ys5HdPf4Jg6U'
  const options: Sso2Options = {
    ssoUrl: 'https://sso.example',
    clientId: 'morning',
    clientSecret: strong,
    organisationId: 'demo-press',
    siteUrl: 'https://news.example',
    apiUrl: 'https://api.example',
    tokenUrl: 'https://login.example/token',
    sessionSecret: 'a-session-secret-of-more-than-32-bytes',
  }
  const weak: [string, string | string[]][] = [
    ['of one letter', 'Q'],
    ['that is a word', 'Quicksilver'],
    ['that is a sentence of 31 bytes', 'Zq3-vT9w_Kx7RbN2mLc8Ys5HdPf4Jg6'],
    ['of 16 random bytes in hexadecimal, cut', '9f86d081884c7d659a2feaa0c55ad01'],
    ['of 16 random bytes in base64', 'n4bQgYhMfWWaL+qgxVrQFaO/Txs='],
    ['of one letter repeated', 'Q'.repeat(64)],
    ['with a line break after', `${strong}\n`],
    ['with CR LF after', `${strong}\r\n`],
    ['with a space before', ` ${strong}`],
    ['with a tab after', `${strong}\t`],
    ['with a no-break space after', `${strong}\u00a0`],
    ['with a byte order mark before', `\ufeff${strong}`],
    ['with a NUL after', `${strong}\u0000`],
    ['with a NUL inside', `${strong.slice(0, 20)}\u0000${strong.slice(20)}`],
    ['that is made long by white space', `Quicksilver${' '.repeat(40)}`],
    ['in a list after a strong one', [strong, 'Quicksilver']],
    ['in a list before a strong one', ['Quicksilver', strong]],
  ]
  test.each(weak)('%s is refused when the site is made, and never said', (_name, clientSecret) => {
    let error: unknown
    try {
      sso2({ ...options, clientSecret })
    } catch (thrown) {
      error = thrown
    }
    if (!(error instanceof Sso2ConfigError)) throw new Error('the secret was taken')
    expect(error.problems.map(({ option }) => option)).toEqual(['clientSecret'])
    const said = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + error.message
    for (const one of [clientSecret].flat()) if (one.length > 1) expect(said).not.toContain(one.trim())
  })

  test('may be two: both verify, only the first signs', async () => {
    const [first, second] = target.secrets
    const site = sso2({ ...options, clientSecret: [first, second], clock })
    const claims = goodClaims(target)
    for (const secret of [first, second]) expect(site.client.readLanding(signJwt(claims, secret)).sid).toBe(target.sid)
    expect(() => site.client.readLanding(signJwt(claims, strong))).toThrow(TokenError)
    const t = new URL(site.client.identifyUrl('https://news.example/')).searchParams.get('t') ?? ''
    expect([isSignedWith(t, first), isSignedWith(t, second)]).toEqual([true, false])
    await site.close()
  })
})
