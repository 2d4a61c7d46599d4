/**
 * Emulates the whole SSO2 platform on a single port, for development and tests.
 * Never for production: the accounts have known passwords.
 * The options are in `config/options.ts`, the HTTP operations in `http/`, the session rules in `platform/`.
 */
import type { RequestListener } from 'node:http'
import { Sso2ConfigError } from '../errors'
import type { EmulatorOptions } from './config/options'
import { optionProblems, readConfig } from './config/schema'
import {
  type AccountControl,
  accountControl,
  exportOptions,
  pruneSession,
  terminateSession,
  viewSessions,
} from './control/actions'
import { flowOfSession } from './control/flows'
import type { SessionView } from './control/views'
import type { Fault } from './faults/list'
import { type FaultOptions, faultSchema } from './faults/rules'
import type { Flow } from './flow/types'
import { Listener, type Listening } from './listener'
import type { Call, CallFilter } from './platform/calls'
import { type EmulatorClock, Runtime } from './runtime'
import { createApp } from './server'

export { demoOptions } from './config/demo'
export type {
  AccountOptions,
  Address,
  CampaignOptions,
  ClientOptions,
  EmulatorOptions,
  Limits,
  MarketOptions,
  MarketplaceGroupOptions,
  SavedSessionOptions,
  SubscriptionOptions,
} from './config/options'
export type { AccountChanges, AccountControl } from './control/actions'
export type { AccountView, SessionView } from './control/views'
export type { Fault } from './faults/list'
export type { EmulatedOperation, FaultKind, FaultOptions } from './faults/rules'
export type { Flow, FlowParticipant, FlowStep } from './flow/types'
export type { Listening } from './listener'
export type { Call, CallFilter } from './platform/calls'
export type { EmulatorClock } from './runtime'

/** Options that a site needs to use the platform. Spread them into the options of `sso2()`. */
export interface SiteOptions {
  readonly ssoUrl: string
  readonly apiUrl: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly organisationId: string
  readonly ssoIdentifier: string
}

/** Switches the faults of an emulator on and off. */
export interface FaultControl {
  /**
   * Switches a fault on.
   * @returns the fault with its ID
   * @throws {Sso2ConfigError} if the fault is not valid
   */
  add(fault: FaultOptions): Fault
  /** Returns the active faults, in the order in which they were added. */
  list(): Fault[]
  /**
   * Switches a fault off, or all faults without an ID.
   * @returns whether a fault was switched off
   */
  clear(id?: string): boolean
}

/** An emulator, before or after `listen`. */
export interface Emulator {
  /** Express application, which supertest can use without `listen`. */
  readonly app: RequestListener
  /** Base address, without a slash at the end. Throws before `listen`. */
  readonly url: string
  /** Clock of the platform. */
  readonly clock: EmulatorClock
  /** Failures to simulate. */
  readonly faults: FaultControl
  /**
   * Listens on the loopback interface only, unless `host` says otherwise.
   * @param port 0, the default, takes a free port and does not keep the process running
   * @param host default 127.0.0.1. With another address, every machine that reaches the port can log in as any user.
   */
  listen(port?: number, host?: string): Promise<Listening>
  /**
   * Returns the options for a site that uses the client. Call after `listen`.
   * @param clientId default: the first client that is flagged for SSO2
   * @throws {TypeError} if the client does not exist
   */
  siteOptions(clientId?: string): SiteOptions
  /**
   * Issues a one-time password of six digits, valid for `otpSeconds`.
   * @throws {TypeError} if no account has the username
   */
  issueOtp(username: string): string
  /**
   * Returns the controls of an account.
   * @throws {TypeError} if no account has the username
   */
  account(username: string): AccountControl
  /** Returns the sessions that have not been pruned. */
  sessions(): SessionView[]
  /**
   * Removes a session, as the platform does after inactivity.
   * @returns false if the session does not exist
   */
  prune(sid: string): boolean
  /**
   * Ends a session, as Logout does.
   * @returns false if the session does not exist
   */
  terminate(sid: string): boolean
  /** Returns the latest calls, oldest first, 10,000 at most. */
  calls(filter?: CallFilter): Call[]
  /**
   * Returns the steps of a session between browser, sites and platform. `String(flow)` is text for a failed assertion.
   * Passwords and tickets are masked.
   */
  flow(sid: string): Flow
  /** Returns the running state as options, passwords and secrets included. */
  export(): EmulatorOptions
  /** Restores the configuration: sessions, accounts, clock, faults and log. */
  reset(): void
  /** Closes every connection, including requests without a response, and frees the port. */
  close(): Promise<void>
}

/**
 * Creates an emulator of the platform.
 * @param options the demo data fills in missing options
 * @throws {Sso2ConfigError} if options are wrong, with every problem
 * @throws {Error} if `NODE_ENV` is `production`, because the accounts have known passwords
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  if (process.env['NODE_ENV'] === 'production')
    throw new Error('the SSO2 emulator does not run with NODE_ENV=production')
  const runtime = new Runtime(readConfig(options))
  const app = createApp(runtime)
  const listener = new Listener(app, runtime)
  return {
    app,
    get url() {
      return listener.at.url
    },
    clock: runtime.clock,
    faults: faultControl(runtime),
    listen: (port = 0, host = '127.0.0.1') => listener.listen(port, host),
    siteOptions: (clientId) => siteOptions(runtime, listener.at.url, clientId),
    issueOtp: (username) => knownAccount(runtime, username).issueOtp().otp,
    account: (username) => knownAccount(runtime, username),
    sessions: () => viewSessions(runtime),
    prune: (sid) => pruneSession(runtime, sid),
    terminate: (sid) => terminateSession(runtime, sid),
    calls: (filter) => runtime.log.list(filter),
    flow: (sid) => flowOfSession(runtime, sid),
    export: () => exportOptions(runtime),
    reset: () => runtime.reset(),
    close: () => {
      runtime.stop()
      return listener.close()
    },
  }
}

function faultControl(runtime: Runtime): FaultControl {
  return {
    add: (options) => {
      const read = faultSchema.safeParse(options)
      if (!read.success) throw new Sso2ConfigError(optionProblems(read.error))
      const fault = runtime.faults.add(read.data)
      runtime.changed()
      return fault
    },
    list: () => runtime.faults.list(),
    clear: (id) => {
      const cleared = runtime.faults.clear(id)
      runtime.changed()
      return cleared
    },
  }
}

function siteOptions({ config }: Runtime, url: string, clientId: string | undefined): SiteOptions {
  const client = config.clients.find((c) => (clientId === undefined ? c.sso2 : c.clientId === clientId))
  if (!client) throw new TypeError(`the emulator has no client ${clientId ?? 'that is flagged for SSO2'}`)
  return {
    ssoUrl: `${url}/sso`,
    apiUrl: url,
    tokenUrl: `${url}/oauth/token`,
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    organisationId: config.organisationId,
    ssoIdentifier: config.ssoIdentifier,
  }
}

function knownAccount(runtime: Runtime, username: string): AccountControl {
  const control = accountControl(runtime, username)
  if (!control) throw new TypeError('the emulator has no account with this user name')
  return control
}
