import { createHmac, randomBytes } from 'node:crypto'
import path from 'node:path'
import type { Cluster, Redis } from 'ioredis'
import { Client } from './client'
import { dist } from './machine'
import { logInAtSite } from './readers'
import { readerName, type Setup, type SiteOptions } from './setup'

/*
 * Sessions by the million, written by the package's own storage code: a record each, and an entry in the index of its account, just as
 * a login leaves them. The record is that of a real login, with an SSO session, an account and a sealed box of its own.
 */

type Config = typeof import('../../lib/config')
type Record = typeof import('../../lib/decide/record')
type Records = typeof import('../../lib/storage/records')
type AccountIndex = typeof import('../../lib/storage/account-index')

const load = <T>(file: string): T => require(path.join(dist, file))
const AT_ONCE = 250

/** Cookie header of a session: signed as express-session does. */
export function cookieOf(sessionId: string, { sessionSecret }: SiteOptions, name = 'sso2.sid'): string {
  const signature = createHmac('sha256', sessionSecret).update(sessionId).digest('base64').replace(/=+$/, '')
  return `${name}=${encodeURIComponent(`s:${sessionId}.${signature}`)}`
}

/** Session ID of a reader who logs in at a site of this package in the ordinary way. */
export async function realLogin(setup: Setup): Promise<string> {
  const server = await setup.start('sso2', { port: setup.sitePort })
  const origin = `http://localhost:${server.port}`
  const client = new Client()
  await logInAtSite(client, origin, readerName(0))
  await server.stop()
  const id = /sso2\.sid=s(?::|%3A)([\w-]+)\./i.exec(client.cookieHeader(origin))?.[1]
  if (id === undefined) throw new Error('the login gave no session')
  return id
}

/** @param template session ID of a real login, in the setup's Redis */
export async function filler(setup: Setup, template: string, redis: Redis | Cluster) {
  const { sessionKey, shortHash } = load<typeof import('../../lib/storage/site-store')>('storage/site-store')
  const { lifetimeOf } = load<Record>('decide/record')
  const { AccountIndex, accountName } = load<AccountIndex>('storage/account-index')
  const config = load<Config>('config').makeConfig(setup.site, {}, { now: () => Date.now() })
  const now = () => Math.floor(Date.now() / 1000)
  const { redisKv } = load<typeof import('../../lib/storage/redis-kv')>('storage/redis-kv')
  const { Records } = load<Records>('storage/records')
  const partsOf = (client: Redis | Cluster) => ({
    kv: redisKv(client, false),
    prefix: config.prefix,
    keys: config.encryptionKeys,
  })
  const parts = partsOf(redis)
  const records = new Records(parts)
  const accounts = new AccountIndex(parts)
  const entry = await new Records(partsOf(setup.redis)).readEntry(sessionKey(template))
  const record = entry.state === 'live' ? entry.record : undefined
  const secrets = record && records.open(record)
  if (record?.status !== 'loggedin' || !secrets) throw new Error('the real login cannot be read')
  const sidOf = (id: string) => `${id.slice(0, 8)}${secrets.sid.slice(8)}`
  const accountOf = (id: string) => `account-${id.slice(0, 8)}`

  const write = async (id: string) => {
    const user = { ...record.user, accountId: accountOf(id) }
    const own = {
      ...record,
      user,
      sidHash: shortHash(sidOf(id)),
      sealed: records.seal({ ...secrets, sid: sidOf(id) }),
    }
    await records.begin(sessionKey(id), own, lifetimeOf(own, now(), config))
  }
  const add = async (id: string) => {
    const session = { key: sessionKey(id), sidHash: shortHash(sidOf(id)) }
    await accounts.add(accountName(accountOf(id)), session, Date.now())
  }
  return {
    /** @returns session IDs */
    records: async (count: number) => {
      const ids = Array.from({ length: count }, () => randomBytes(32).toString('base64url'))
      await inParts(ids, write)
      return ids
    },
    indexes: (ids: readonly string[]) => inParts(ids, add),
  }
}

/** Enough at once to keep the pipeline full, and few enough for the store's deadline. */
async function inParts(all: readonly string[], run: (one: string) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += AT_ONCE) await Promise.all(all.slice(from, from + AT_ONCE).map(run))
}

/** Sessions of the same content by express-session and connect-redis. @returns session IDs */
export async function fillPlain(redis: Redis | Cluster, count: number): Promise<string[]> {
  const user = { username: 'reader-0001', name: 'Ada Lindqvist', contact_email: 'reader-0001@demo-press.example' }
  const cookie = { originalMaxAge: null, expires: null, httpOnly: true, path: '/' }
  const write = async (id: string) => {
    const session = { cookie, user: { accountId: `account-${id.slice(0, 8)}`, ...user } }
    await redis.set(`plain:${id}`, JSON.stringify(session), 'EX', 1_209_600)
  }
  const ids = Array.from({ length: count }, () => randomBytes(24).toString('base64url'))
  await inParts(ids, write)
  return ids
}
