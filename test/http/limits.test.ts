import { randomUUID } from 'node:crypto'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Attempt } from '../../lib/decide/login'
import { Log } from '../../lib/log/log'
import { RedisKv } from '../../lib/storage/redis-kv'
import { Limits } from '../../lib/web/limits'
import { useRedis } from '../support/redis'

/* The limits over a real Redis, and in memory. */

const server = useRedis()
const NOW = Math.floor(Date.now() / 1000)
const LIMIT = { attempts: 100, perSeconds: 60 }
const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const kv of opened.splice(0)) await kv.close()
})

function connect(redis = server.url()): RedisKv {
  const kv = new RedisKv(redis, { prefix: 'limits:', log: new Log({ warn: () => {}, info: () => {} }) })
  opened.push(kv)
  return kv
}

/** The limits of one process. @param prefix processes with the same prefix are of one site */
function limitsOver(
  redis: RedisKv | undefined,
  { loginLimit = LIMIT as typeof LIMIT | false, rememberDevices = true, prefix = randomUUID() as string } = {},
) {
  const keys = [Buffer.alloc(32, 7)]
  const config = { prefix, loginLimit, rememberDevices, macKeys: () => keys, cookies: { device: 'd' } }
  return new Limits(config as never, redis, () => NOW)
}

const requestFrom = (ip: string, cookie?: string) => {
  const req = new IncomingMessage(new Socket())
  return Object.assign(req, { ip, headers: cookie === undefined ? {} : { cookie } }) as never
}
const stranger = requestFrom('192.0.2.7')
/** A browser that has logged in under this username. */
function knownFor(limits: Limits, username: string, ip = '192.0.2.7') {
  const res = new ServerResponse(new IncomingMessage(new Socket()))
  limits.rememberDevice(stranger, res as never, username)
  return requestFrom(ip, String(res.getHeader('set-cookie')).split(';')[0])
}

type Judgement = [attempt: Attempt, left?: number]

/** A platform that freezes an account at the fifth wrong password. */
class Platform {
  left = 5
  /** Its response is lost, or has no number. */
  silent = (): Judgement => {
    this.left -= 1
    return ['wrong_password']
  }
}
const success = (): Judgement => ['success']

/** One login, as the site runs it. @returns the reason of a refusal, or the outcome */
async function tryLogin(limits: Limits, req: never, username: string, judge: () => Judgement) {
  const admission = await limits.admit(req, username)
  if ('reason' in admission) return admission.reason
  await sleep(5)
  const result = judge()
  await admission.settle(...result)
  return result[0]
}
const times = async <T>(count: number, run: (index: number) => Promise<T>) => {
  const all: T[] = []
  for (let index = 0; index < count; index += 1) all.push(await run(index))
  return all
}

describe.each<[where: string, open: () => RedisKv | undefined]>([
  ['in Redis', () => connect()],
  ['in memory', () => undefined],
])('limits %s', (_where, open) => {
  let platform: Platform
  beforeEach(() => {
    platform = new Platform()
  })

  test.each<[left: number, unknown: string, known: string]>([
    [3, 'success', 'success'],
    [2, 'username', 'success'],
    [1, 'username', 'username'],
  ])(
    '[F3] the platform reports %i attempts left: an unrecognised browser gets %s, a known one %s',
    async (left, ...said) => {
      const limits = limitsOver(open())
      await tryLogin(limits, stranger, 'ada', () => ['wrong_password', left])
      const words = [stranger, knownFor(limits, 'ada')].map((req) => tryLogin(limits, req, 'ada', success))
      expect(await Promise.all(words)).toEqual(said)
    },
  )

  test('[F3] where no browsers are remembered, all have four attempts, and there is no cookie', async () => {
    const limits = limitsOver(open(), { rememberDevices: false })
    const said = await times(5, () => tryLogin(limits, stranger, 'ada', platform.silent))
    expect([said, platform.left]).toEqual([[...Array(4).fill('wrong_password'), 'username'], 1])
    const known = knownFor(limitsOver(undefined), 'ada')
    expect(await tryLogin(limits, known, 'ada', success)).toBe('username')
    expect(knownFor(limits, 'ada')).toMatchObject({ headers: { cookie: 'undefined' } })
  })

  test('[F16] spellings of one username share its attempts', async () => {
    const limits = limitsOver(open())
    for (const letter of ['a', '\u00e0', 'a\u200b', 'A', '\uff41'])
      await tryLogin(limits, stranger, `gr${letter}ce`, platform.silent)
    expect(platform.left).toBe(2)
  })

  test.each<Attempt>(['success', 'not_judged'])('[F4] an attempt with %s costs nothing', async (result) => {
    const limits = limitsOver(open(), { loginLimit: { attempts: 5, perSeconds: 60 } })
    const said = await times(12, (index) => tryLogin(limits, stranger, `name-${index % 3}`, () => [result]))
    expect(new Set(said)).toEqual(new Set([result]))
  })

  test('[F4] a frozen account costs its address, all of an IPv6 /56, an attempt, and its name none', async () => {
    const limits = limitsOver(open(), { loginLimit: { attempts: 5, perSeconds: 60 } })
    const from = (index: number) => requestFrom(`2001:db8:0:7${index}f::1`)
    const refused = (index: number) => tryLogin(limits, from(index), 'ada', () => ['refused'])
    expect(await times(6, refused)).toEqual([...Array(5).fill('refused'), 'address_and_username'])
    expect(await tryLogin(limits, requestFrom('2001:db8:0:800::1'), 'ada', success)).toBe('success')
  })

  test('[F4] an address has five times the attempts of a name; a recognised browser there is counted by itself', async () => {
    const limits = limitsOver(open(), { loginLimit: { attempts: 4, perSeconds: 60 } })
    const spray = (index: number, ip = '192.0.2.7') =>
      tryLogin(limits, requestFrom(ip), `name-${index}`, () => ['refused'])
    expect(await times(21, spray)).toEqual([...Array(20).fill('refused'), 'address'])
    expect(await tryLogin(limits, knownFor(limits, 'ada'), 'ada', success)).toBe('success')
    expect(await tryLogin(limits, knownFor(limits, 'grace'), 'ada', success)).toBe('address')
    expect(await spray(0, '192.0.2.8')).toBe('refused')
  })

  test('[F19] what is given back after its window enlarges no later window', async () => {
    const limits = limitsOver(open(), { loginLimit: { attempts: 1, perSeconds: 1 } })
    const early = await times(5, (index) => limits.admit(stranger, `early-${index}`))
    await sleep(1100)
    await times(5, (index) => tryLogin(limits, stranger, `late-${index}`, () => ['refused']))
    for (const one of early) if ('settle' in one) await one.settle(...success())
    expect(await tryLogin(limits, stranger, 'ada', success)).toBe('address')
  })
})

const local = '127.0.0.1 10.1.2.3 172.16.0.1 172.31.0.1 192.168.1.1 169.254.9.9 0.0.0.0'
const localIpv6 = '::1 0:0:0:0:0:0:0:1 fd00::1 fc00:1::1 fe80::1%eth0 febf::1'
const others = '203.0.113.7 172.15.0.1 172.32.0.1 11.0.0.1 110.1.2.3 fec0::1 2001:db8:0:100::1,2001:db8:0:1ff::1'

test.each([
  ...`${local} ${localIpv6}`.split(' ').map((addresses) => [addresses, 0] as const),
  ...others.split(' ').map((addresses) => [addresses, 2] as const),
])('[S8] %s: of 602 landings in a minute %i are refused, and no replay counts', async (addresses, refused) => {
  const limits = limitsOver(undefined)
  const [one = '', other = one] = addresses.split(',')
  const land = (index: number, isFirst = true) =>
    limits.admitLanding(requestFrom(index % 2 === 0 ? one : other), Promise.resolve(isFirst))
  await times(9, (index) => land(index, false))
  expect((await times(602, land)).filter((isAdmitted) => !isAdmitted)).toHaveLength(refused)
})

test('[F3] all processes of a site count together', async () => {
  const platform = new Platform()
  const processes = [1, 2, 3, 4].map(() => limitsOver(connect(), { prefix: 'together:' }))
  await Promise.all(processes.map((limits) => times(5, () => tryLogin(limits, stranger, 'ada', platform.silent))))
  expect(platform.left).toBe(2)
})
