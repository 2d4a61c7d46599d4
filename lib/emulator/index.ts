/** The whole platform of the interface on one port, for development and tests. Contract: section 9. */
import type { RequestListener } from 'node:http'
import { Sso2ConfigError } from '../errors'
import type { EmulatorOptions } from './config/options'
import { problemsOf, readConfig } from './config/schema'
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
  Market,
  MarketplaceGroup,
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

/** What a site needs to know of the platform: spread it into the options of `sso2()`. */
export interface SiteOptions {
  readonly ssoUrl: string
  readonly apiUrl: string
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly organisationId: string
  readonly ssoIdentifier: string
}

/** The faults of an emulator. */
export interface FaultControl {
  /**
   * Switches a fault on and gives it with its ID.
   * @throws {Sso2ConfigError} for what makes no sense
   */
  add(fault: FaultOptions): Fault
  /** What is switched on, in the order in which it was added. */
  list(): Fault[]
  /** Switches one off, or all; says whether there was one. */
  clear(id?: string): boolean
}

/** A running emulator, or one that is about to. */
export interface Emulator {
  /** The Express application; fit for supertest, without `listen`. */
  readonly app: RequestListener
  /** Base address, without a slash at the end. Throws before `listen`. */
  readonly url: string
  /** The time that the platform lives in. */
  readonly clock: EmulatorClock
  /** What goes wrong on purpose. */
  readonly faults: FaultControl
  /**
   * Listens on this machine only, unless told otherwise.
   * @param port 0, which is the default, takes a free one, and does not keep the process from ending
   * @param host default 127.0.0.1; beyond loopback, whoever reaches the machine can log in as anybody
   */
  listen(port?: number, host?: string): Promise<Listening>
  /**
   * Options for a site that uses the client, the first one flagged for SSO2 when none is named. After `listen`.
   * @throws {TypeError} there is no such client
   */
  siteOptions(clientId?: string): SiteOptions
  /**
   * Issues a one-time password of six digits, good for `otpSeconds`.
   * @throws {TypeError} there is no account with this user name
   */
  issueOtp(username: string): string
  /**
   * Steers one account.
   * @throws {TypeError} there is no account with this user name
   */
  account(username: string): AccountControl
  /** Sessions that are not forgotten. */
  sessions(): SessionView[]
  /** Forgets a session, as inactivity does; false when there is none. */
  prune(sid: string): boolean
  /** Ends a session, as Logout does; false when there is none. */
  terminate(sid: string): boolean
  /** The latest calls, oldest first: 10,000 at most. */
  calls(filter?: CallFilter): Call[]
  /**
   * The steps of one session between browser, sites and platform. `String()` of it is text for a failed assertion.
   * Passwords and tickets are masked.
   */
  flow(sid: string): Flow
  /** The running state as options, passwords and secrets included. */
  export(): EmulatorOptions
  /** Back to the configuration: sessions, accounts, clock, faults and log. */
  reset(): void
  /** Ends every connection, hanging ones too, and frees the port. */
  close(): Promise<void>
}

/**
 * Makes an emulator of the platform.
 * @param options what is left out comes from the demo data
 * @throws {Sso2ConfigError} listing everything that is wrong with the options
 * @throws {Error} where `NODE_ENV` is `production`: it is no place for accounts with known passwords
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
      if (!read.success) throw new Sso2ConfigError(problemsOf(read.error))
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
