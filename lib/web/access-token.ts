/** The access token of a logged-in visitor, and a new one where the protocol allows it: Session Status with `lks` `anon` hands out a ticket. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoggedInRecord, serialiseRecord, withoutAccess } from '../decide/record'
import { Sso2UnavailableError } from '../errors'
import type { AccessTokenSource } from '../remote/rest-call'
import { StoreUnavailableError } from '../storage/unavailable'
import { check } from './check'
import { lifeOf, openBox } from './sign-in'
import { setRecord, type Visit } from './visit'

/** One session asks for a new access token at most once in this time. */
const RENEW_EVERY_SECONDS = 10
/** Session Status, the ticket's exchange and naming the user, in milliseconds. */
const RENEWAL_MS = 8000
const POLL_MS = 50
/** Between the claim of a renewal and the record that shows it, in milliseconds. */
const CLAIM_MS = 500

const renewals = new WeakMap<Visit, Promise<string | undefined>>()

/** The source of this visitor's access token; `undefined` when the record holds none. */
export function accessTokenOf(visit: Visit, served: LoggedInRecord): AccessTokenSource | undefined {
  const first = openBox(visit, served)?.accessToken
  if (first === undefined) return undefined
  let token: string | undefined = first
  return async (refused) => {
    const isOver = visit.site.now() >= (served.accessUntil ?? Number.POSITIVE_INFINITY)
    const useless = refused ?? (isOver ? first : undefined)
    if (token === undefined || token === useless) token = await renewed(visit, served.user.accountId, token ?? first)
    return token
  }
}

/** Parallel calls of one request share one renewal. */
function renewed(visit: Visit, accountId: string, refused: string): Promise<string | undefined> {
  const running = renewals.get(visit)
  if (running) return running
  const renewal = renew(visit, accountId, refused)
    .catch((error: unknown) => {
      throw error instanceof StoreUnavailableError ? unavailable('the session store') : error
    })
    .finally(() => renewals.delete(visit))
  renewals.set(visit, renewal)
  return renewal
}

/** @returns another token of the same account than the one that was refused; `undefined` when none can be had now */
async function renew(visit: Visit, accountId: string, refused: string): Promise<string | undefined> {
  const known = await readOther(visit, accountId, refused)
  if (known !== undefined || visit.key === undefined) return known
  if (!(await visit.site.records.claimRenewal(visit.key, RENEW_EVERY_SECONDS)))
    return waitForOther(visit, accountId, refused)
  if (visit.record?.status !== 'loggedin') return undefined
  await noteRefused(visit, visit.record)
  if (visit.record.status === 'loggedin') await check(visit, visit.record)
  if (visit.degraded === 'sso_unavailable') throw unavailable('the SSO system')
  return tokenOf(visit, accountId, refused)
}

const unavailable = (system: string) =>
  new Sso2UnavailableError('sessionstatus', true, `no new access token: ${system} does not answer`)

/** From here on every check asks for a ticket, and a page load goes through Identify where none came. */
async function noteRefused(visit: Visit, record: LoggedInRecord): Promise<void> {
  const text = serialiseRecord(withoutAccess(record))
  if (visit.key && (await visit.site.records.replace(visit.key, visit.raw, text, lifeOf(visit, record))))
    setRecord(visit, text)
  else await reread(visit)
}

async function waitForOther(visit: Visit, accountId: string, refused: string): Promise<string | undefined> {
  const start = performance.now()
  for (;;) {
    const token = await readOther(visit, accountId, refused)
    const elapsed = performance.now() - start
    const isStillAsked = elapsed < CLAIM_MS || visit.record?.askingAt !== undefined
    if (token !== undefined || !isStillAsked || elapsed > RENEWAL_MS) return token
    await sleep(POLL_MS)
  }
}

async function readOther(visit: Visit, accountId: string, refused: string): Promise<string | undefined> {
  await reread(visit)
  return tokenOf(visit, accountId, refused)
}

async function reread(visit: Visit): Promise<void> {
  setRecord(visit, visit.key === undefined ? null : await visit.site.records.read(visit.key))
}

/** A call that was begun for one account never goes on with another one's token. */
function tokenOf(visit: Visit, accountId: string, refused: string): string | undefined {
  const { record } = visit
  if (record?.status !== 'loggedin' || record.user.accountId !== accountId) return undefined
  const token = openBox(visit, record)?.accessToken
  return token === refused ? undefined : token
}
