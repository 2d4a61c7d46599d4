import { serialiseRecord } from '../../lib/decide/record'
import type { Kv } from '../../lib/storage/kv'
import { type DeferredLogout, LogoutMemory } from '../../lib/storage/logout-memory'
import { shortHash } from '../../lib/storage/site-store'
import type { Site } from '../../lib/web/site'
import { anonRecord, loggedInRecord } from '../decide/samples'
import { faultyServer } from '../remote/faulty-server'
import { claimsOf, clientOf, says } from '../remote/sso-scene'
import { failingKv } from '../storage/failing-kv'
import { listedIn, realClock, siteOver, type TestClock } from '../storage/stores'

/* A site for the steps of a logout, over a store whose commands fail, and with an SSO system that confirms, refuses or is late. */

export { device } from '../remote/sso-scene'
export const now = () => realClock.now
export const [SID, ACCOUNT] = ['sid-of-ada', 'account-ada']
export const sidHash = shortHash(SID)
export const keyNamed = (name: string) => name.padEnd(43, '-')

export async function openLogoutSite(open: (clock: TestClock) => Kv) {
  const { kv, fail } = failingKv(open(realClock))
  const stored = siteOver(kv, realClock)
  const server = await faultyServer()
  let reply: object = { sts: 'terminated' }
  let delayMs = 0
  const become = (claims: object, ms = 0) => {
    reply = claims
    delayMs = ms
  }
  server.become((res, seen, count) => {
    const answer = says({ aid: claimsOf(seen.body)['aid'], ...reply })
    setTimeout(() => answer(res, seen, count), delayMs)
  })
  const client = clientOf(server.url, { timeoutMs: 2000 })
  let starts = 0
  const config = { idleSeconds: 600, anonymousIdleSeconds: 600, absoluteSeconds: 6000 }
  const deferredLogouts = new LogoutMemory<DeferredLogout>()
  const logoutWorker = {
    start: () => {
      starts += 1
    },
  }
  const site = { ...stored, config, deferredLogouts, client, now, logoutWorker } as unknown as Site

  /** Stores a session, in both indexes if it is a login. */
  const begin = async (name: string, { sid = SID, accountId = ACCOUNT, isLogin = true } = {}) => {
    const key = keyNamed(name)
    const { records } = stored
    const own = { since: now(), checkedAt: now(), sidHash: shortHash(sid), sealedSecrets: records.seal({ sid }) }
    const record = isLogin ? loggedInRecord({ ...own, user: { accountId } }) : anonRecord(own)
    await records.replace(key, null, serialiseRecord(record), 600)
    if (isLogin)
      await stored.sessionIndex.add({ key, sidHash: record.sidHash, accountId }, 600, stored.sessionIndex.startNow())
    return key
  }
  const stateOf = async (key: string) => {
    const found = await stored.records.read(key)
    return found === 'unavailable' ? found : found.state
  }
  const listed = (index: string) => listedIn(kv, stored, index, now())
  return {
    site,
    stored,
    kv,
    fail,
    become,
    begin,
    stateOf,
    states: (keys: readonly string[]) => Promise.all(keys.map(stateOf)),
    ofSso: () => listed(`sid:{${sidHash}}`),
    ofAccount: (accountId = ACCOUNT) => listed(`acct:{${shortHash(accountId)}}`),
    isSsoSessionRevoked: async (sid = SID) => {
      const used = await stored.sessionIndex.useToken(Buffer.from(String(Math.random())), shortHash(sid))
      return used !== 'unavailable' && used.isSsoSessionRevoked
    },
    isAccountRevoked: async () => (await kv.mget([`${stored.prefix}all:{${shortHash(ACCOUNT)}}`]))[0] !== null,
    calls: () =>
      server.seen.map(({ url, body }) => {
        const { sid, aid, ipa, uas } = claimsOf(body)
        return { url, sid, aid, ipa, uas }
      }),
    starts: () => starts,
    /** IDs of the logouts that wait, which are due again in the future. */
    queued: async () => {
      const times = { now: Number.MAX_SAFE_INTEGER, latest: Number.MAX_SAFE_INTEGER }
      const parts = Array.from({ length: 8 }, (_, part) =>
        kv.takeDue(`${stored.prefix}logouts:{logouts${part}}`, times, now() + 100, 100),
      )
      return (await Promise.all(parts)).flat().sort()
    },
    close: async () => {
      client.close()
      await server.close()
      await kv.close()
    },
  }
}
export type LogoutSite = Awaited<ReturnType<typeof openLogoutSite>>
