/** Runs hooks of the site with a time limit, because a hook may throw, reject or never settle. Publishes the events. Threat O12. */
import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import createDebug from 'debug'
import { Sso2UnavailableError } from '../errors'
import type { Log } from '../log/log'

/** Time limit of ticket exchange and `loadUser` together, or of one other hook, in milliseconds. */
export const HOOKS_MS = 8000

/** Runs a hook. @throws {Sso2UnavailableError} with the name of the hook, if the signal aborts first */
export function runHook<T>(hook: string, run: () => Promise<T>, signal = AbortSignal.timeout(HOOKS_MS)): Promise<T> {
  const timeout = once(signal, 'abort').then(() =>
    Promise.reject(new Sso2UnavailableError(hook, false, 'the hook did not settle in time', true)),
  )
  return Promise.race([run(), timeout])
}

/** A response waits at most so long for `onLogin` or `onLogout`, in milliseconds. */
const LISTENER_MS = 2000

/** Runs `onLogin` or `onLogout`. A listener that fails, or does not settle in time, is logged and changes nothing. */
export async function callListener(name: 'onLogin' | 'onLogout', log: Log, run: () => unknown): Promise<void> {
  await runHook(name, async () => run(), AbortSignal.timeout(LISTENER_MS)).catch((error) => log.failed(name, error))
}

/** A message of the diagnostics channels `express-sso2:identify`, `:landing`, `:check`, `:login`, `:logout` and `:degraded`. */
export interface Sso2Event {
  /** The operation, for example `sessionstatus`. */
  readonly operation: string
  /** The outcome of the operation, for example `redirected`. */
  readonly outcome: string
  /** Duration in milliseconds. */
  readonly durationMs: number
  /** Short hash of the SSO session ID, or `undefined` if there is no SSO session. */
  readonly sidHash: string | undefined
  /** The reason, if the outcome is a refusal or degraded. */
  readonly reason?: string | undefined
}

const CHANNELS = ['identify', 'landing', 'check', 'login', 'logout', 'degraded'] as const
/** Kept, because Node.js 20 loses subscribers of a channel that was collected before. */
const channels = new Map(CHANNELS.map((name) => [name, diagnostics.channel(`express-sso2:${name}`)]))
/** The logs of `debug`, one for each channel, because each counts the time since its last line. */
const logs = new Map(CHANNELS.map((name) => [name, createDebug(`express-sso2:${name}`)]))

type EventFacts = Pick<Sso2Event, 'operation' | 'outcome'> & Partial<Sso2Event>

/** Publishes one event. The message always has `durationMs` and `sidHash`, so that subscribers can rely on its fields. */
export function publish(name: (typeof CHANNELS)[number], facts: EventFacts): void {
  const event: Sso2Event = { durationMs: 0, ...facts, sidHash: facts.sidHash }
  channels.get(name)?.publish(event)
  const { operation, outcome, reason = '-', durationMs, sidHash = '-' } = event
  logs.get(name)?.('%s %s %s %dms %s', operation, outcome, reason, Math.round(durationMs), sidHash)
}
