/** What happened, for those who watch: `debug` names and diagnostics channels. No message holds a token, ticket, password or session ID. */
import diagnostics from 'node:diagnostics_channel'
import createDebug from 'debug'

/** Names of the channels, each below `express-sso2:`. */
export type EventName = 'identify' | 'landing' | 'check' | 'login' | 'logout' | 'degraded'

/** One message of the diagnostics channels `express-sso2:identify`, `:landing`, `:check`, `:login`, `:logout` and `:degraded`. */
export interface Sso2Event {
  /** What was done, for example `sessionstatus`. */
  readonly operation: string
  /** What it came to, in a word. */
  readonly outcome: string
  /** In milliseconds. */
  readonly durationMs: number
  /** Short hash of the SSO session ID. */
  readonly sidHash?: string | undefined
  /** Where refused or degraded: why. */
  readonly reason?: string | undefined
}

const NAMES: readonly EventName[] = ['identify', 'landing', 'check', 'login', 'logout', 'degraded']
const channels = new Map(NAMES.map((name) => [name, diagnostics.channel(`express-sso2:${name}`)]))
const logs = new Map(NAMES.map((name) => [name, createDebug(`express-sso2:${name}`)]))

/** Publishes one event. */
export function publish(name: EventName, event: Sso2Event): void {
  const channel = channels.get(name)
  if (channel?.hasSubscribers) channel.publish(event)
  const log = logs.get(name)
  if (log?.enabled)
    log(
      '%s %s %s %dms %s',
      event.operation,
      event.outcome,
      event.reason ?? '-',
      Math.round(event.durationMs),
      event.sidHash ?? '-',
    )
}
