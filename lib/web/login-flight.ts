/** One Authenticate for all submits of one form at once, over all processes: who comes second takes the first one's result. Threat F5. */
import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LoginResult } from '../decide/login'
import { sessionKey } from '../storage/records'
import { seal, unseal } from '../storage/seal'
import { setRecord, type Visit } from './visit'

/** Sealed in the store: nobody who reads it can try passwords against the digest. */
interface Flight {
  readonly digest: string
  readonly result?: LoginResult
  /** The session that a login got. */
  readonly sessionId?: string
}

const POLL_MS = 25
const WAIT_MS = 20_000
const BUSY: LoginResult = { ok: false, error: 'busy' }

/** @param credentials what makes two submits the same; @param run the login itself, which never rejects */
export async function inOneFlight(
  visit: Visit,
  key: string,
  credentials: readonly string[],
  run: () => Promise<LoginResult>,
): Promise<LoginResult> {
  const { logins } = visit.site
  const digest = createHash('sha256').update(JSON.stringify(credentials)).digest('base64url')
  const before = await logins.flight(key)
  if (isRunning(open(visit, before))) return join(visit, key, digest)
  if (!(await logins.beginFlight(key, before, close(visit, { digest })))) return join(visit, key, digest)
  const result = await run()
  const more = result.ok ? { sessionId: visit.req.sessionID } : {}
  await logins.endFlight(key, close(visit, { digest, result, ...more })).catch(() => {}) // the login stands without it
  return result
}

const isRunning = (flight: Flight | undefined) => flight !== undefined && flight.result === undefined

function open({ site }: Visit, sealed: string | null): Flight | undefined {
  const text = sealed === null ? undefined : unseal(sealed, site.config.boxKeys())
  return text === undefined ? undefined : JSON.parse(text)
}

const close = ({ site }: Visit, flight: Flight) => seal(JSON.stringify(flight), site.config.boxKeys())

async function join(visit: Visit, key: string, digest: string): Promise<LoginResult> {
  const end = performance.now() + WAIT_MS
  while (performance.now() < end) {
    const flight = open(visit, await visit.site.logins.flight(key))
    if (flight?.digest !== digest) return BUSY
    if (flight.result) return share(visit, flight.result, flight.sessionId)
    await sleep(POLL_MS)
  }
  return BUSY
}

/** The second submit takes the first one's result, and its new session. */
async function share(visit: Visit, result: LoginResult, sessionId: string | undefined): Promise<LoginResult> {
  if (!result.ok || sessionId === undefined) return result
  visit.site.sessions.adopt(visit.req, sessionId, true)
  visit.key = sessionKey(sessionId)
  setRecord(visit, await visit.site.records.read(visit.key))
  visit.served = visit.record
  return result
}
