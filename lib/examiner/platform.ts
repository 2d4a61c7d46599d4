/** Runs the platform of an examination: parts of the emulator, two API clients and made-up accounts. */
import { readConfig } from '../emulator/config/schema'
import { accountControl } from '../emulator/control/actions'
import type { EmulatedOperation, FaultOptions } from '../emulator/faults/rules'
import { Listener } from '../emulator/listener'
import type { Call } from '../emulator/platform/calls'
import { endSsoSession, findSession } from '../emulator/platform/sessions'
import type { Trace } from '../emulator/platform/traces'
import { removeSession } from '../emulator/platform/world'
import { Runtime } from '../emulator/runtime'
import { createApp, HUGE_BYTES } from '../emulator/server'
import { Pulse } from './pulse'
import { clientSecretOf, type PlatformAddresses } from './settings'

/** A made-up user. */
export interface Account {
  readonly accountId: string
  readonly username: string
  readonly password: string
  /** First words of the name, by which a page that shows the user is known. */
  readonly name: string
}

/** An API client. */
export interface Client {
  readonly clientId: string
  readonly clientSecret: string
}

/** A call of the site, with its time and its SSO session. */
export interface SiteCall extends Trace {
  readonly call: Call
}

const isTraceOfCall = (trace: Trace): trace is SiteCall => trace.call !== undefined

/** A fault without its operation. */
export type Fault = FaultOptions extends infer F ? (F extends unknown ? Omit<F, 'operation'> : never) : never

const MAX_ACCOUNTS = 800
/** Ends the name of each account but the first, so that a page that does not escape names is seen. */
export const NAME_END = " <b>O'Neil</b>"
const CLOSE_IDS = [
  ['0123', '123'],
  ['77a', '77b'],
  ['9007199254740993', '9007199254740992'],
  ['examined-grace', 'Examined-Gr\u00e0ce'],
] as const
const organisationId = 'examined-organisation'
const ssoIdentifier = 'sso-service'
const campaigns = [{ productCode: 'examined-campaign', name: 'Examined campaign', conflictsWith: [] }]

/** A running platform. */
export class Platform {
  readonly site: Client
  readonly second: Client = {
    clientId: 'second-site',
    clientSecret: 'made-up-secret-of-the-second-site-of-the-publisher',
  }
  readonly accounts: readonly [Account, ...Account[]] = [
    accountOf(0),
    ...Array.from({ length: MAX_ACCOUNTS - 1 }, (_, index) => accountOf(index + 1)),
  ]
  /** An account whose username has signs that forms encode, and whose name has letters beyond ASCII. */
  readonly oddAccount: Account = {
    ...accountOf(MAX_ACCOUNTS),
    username: "O'Neil+News@made-up.invalid",
    name: `${accountOf(MAX_ACCOUNTS).name} Ångström-Łódź`,
  }
  /** Pairs of accounts with IDs that are the same as numbers, or in a database that ignores case and accents. */
  readonly closeAccounts = CLOSE_IDS.map(([one, other], index) => {
    const first = MAX_ACCOUNTS + 1 + 2 * index
    return [
      { ...accountOf(first), accountId: one },
      { ...accountOf(first + 1), accountId: other },
    ] as const
  })
  readonly runtime: Runtime
  readonly pulse = new Pulse()
  /** Number of requests for the address to which the fault `status` redirects calls. */
  followed = 0
  /** Number of responses of 20 MB (the fault `huge`) that were read to their end. */
  readWhole = 0
  #listener: Listener
  #url = ''

  constructor(
    readonly siteUrl: string,
    readonly landing: string,
  ) {
    this.site = { clientId: 'examined-site', clientSecret: clientSecretOf(siteUrl) }
    const second = { ...this.second, name: 'Second site', landingPage: 'http://second.invalid/landing' }
    const clients = [{ ...this.site, name: 'Site', landingPage: siteUrl + landing }, second]
    const limits = { sessionsPerAccount: 100, pruneAfterSeconds: 86_400 }
    const options = {
      organisationId,
      ssoIdentifier,
      clients,
      limits,
      tokenTime: 'real',
    } as const
    this.runtime = new Runtime(
      readConfig({
        ...options,
        accounts: [...this.accounts.map(withFullName), this.oddAccount, ...this.closeAccounts.flat()],
        marketplaceGroups: [],
        campaigns,
      }),
    )
    this.#listener = this.#newListener()
  }

  #newListener(): Listener {
    const app = createApp(this.runtime)
    return new Listener((req, res) => {
      if (req.url === '/') this.followed += 1
      res.once('finish', () => {
        if (Number(res.getHeader('content-length')) === HUGE_BYTES) this.readWhole += 1
      })
      app(req, res)
    }, this.runtime)
  }

  /** Listens on the loopback interface only. */
  async listen(port: number): Promise<void> {
    this.#url = (await this.#listener.listen(port, '127.0.0.1')).url
  }

  /** Returns the base address. */
  get url(): string {
    return this.#url
  }

  /** Returns the settings that the site needs. */
  get addresses(): PlatformAddresses {
    return this.#addresses(this.url)
  }

  /** Returns the settings for a platform that will listen on a port. */
  addressesAt(port: number): PlatformAddresses {
    return this.#addresses(`http://127.0.0.1:${port}`)
  }

  #addresses(url: string): PlatformAddresses {
    const { siteUrl, landing, site } = this
    return { url, siteUrl, landing, organisationId, ssoIdentifier, ...site }
  }

  /** Is the address that of Identify? */
  isIdentify({ origin, pathname }: URL): boolean {
    return origin === new URL(this.#url).origin && pathname === '/sso/identify'
  }

  /**
   * Switches a fault on for some operations.
   * @returns a function that switches the fault off
   */
  fault(
    operations: readonly EmulatedOperation[],
    fault: Fault,
    more: { times?: number; sid?: string } = {},
  ): () => void {
    const { faults } = this.runtime
    // the parts fit together, so the emulator's schema is not needed here
    const added = operations.map((operation) => faults.add({ operation, ...more, ...fault } as FaultOptions))
    return () => {
      for (const { id } of added) faults.clear(id)
    }
  }

  /** Refuses every connection until the returned function is called. */
  async refuse(): Promise<() => Promise<void>> {
    const { port } = new URL(this.#url)
    await this.#listener.close()
    let isOver = false
    return async () => {
      if (isOver) return
      isOver = true
      this.#listener = this.#newListener()
      await this.#listener.listen(Number(port), '127.0.0.1')
    }
  }

  /** Removes every access token, as if all of them had expired. */
  expireAccessTokens(): void {
    this.runtime.world.accessTokens.clear()
  }

  /**
   * Changes what the user response says of an account. The login stays the same.
   * @returns a function that restores the account
   */
  replaceUser(
    { username }: Account,
    changes: { accountId?: null | undefined; username?: string; name?: string; email?: string | null },
  ): () => void {
    const state = kept(this.runtime.world.accountsByName.get(username))
    const { account } = state
    Object.assign(state, { account: { ...account, ...changes } })
    return () => void Object.assign(state, { account })
  }

  /**
   * Gives the username of an account to another one, as when the first user has taken another username.
   * The other one then logs in with this username and the password of the first.
   */
  passOnUsername(from: Account, to: Account): void {
    const { username, password } = from
    this.replaceUser(to, { username })
    const { accountsByName, accountsById } = this.runtime.world
    kept(accountsByName.get(username)).account = { ...kept(accountsById.get(to.accountId)).account, password }
  }

  /** Returns the site's calls since a time, oldest first. */
  calls(since: number, filter: { operation?: EmulatedOperation; sid?: string | undefined } = {}): SiteCall[] {
    return this.runtime.traces
      .since(since)
      .filter(isTraceOfCall)
      .filter(
        ({ call, sid }) =>
          call.clientId !== this.second.clientId &&
          (filter.operation === undefined || call.operation === filter.operation) &&
          (filter.sid === undefined || sid === filter.sid),
      )
  }

  /** Ends an SSO session, as a logout on another site does. */
  terminate(sid: string): void {
    const session = findSession(this.runtime.world, sid, this.runtime.now())
    if (session) endSsoSession(this.runtime.world, session)
  }

  /** Removes an SSO session, as the platform does after inactivity. */
  prune(sid: string): void {
    const session = this.runtime.world.sessions.get(sid)
    if (session) removeSession(this.runtime.world, session)
  }

  /** Returns the state of an SSO session, or `undefined` if the session does not exist. */
  status(sid: string): string | undefined {
    return this.runtime.world.sessions.get(sid)?.status
  }

  /** Returns the account that is logged in on an SSO session. */
  accountOf(sid: string): string | undefined {
    const session = this.runtime.world.sessions.get(sid)
    return session?.status === 'loggedin' ? session.accountId : undefined
  }

  /** Returns the controls of an account. */
  control({ username }: Account) {
    return kept(accountControl(this.runtime, username))
  }

  close(): Promise<void> {
    this.pulse.stop()
    this.runtime.stop()
    return this.#listener.close()
  }
}

const beginnings = [
  'Quol',
  'Vark',
  'Zimb',
  'Throx',
  'Jelk',
  'Wisp',
  'Dryn',
  'Klom',
  'Fyrr',
  'Gwal',
  'Hupp',
  'Nyx',
  'Orv',
  'Plim',
  'Squen',
  'Umb',
]
const ends = [
  'azor',
  'ibbet',
  'onquil',
  'udrake',
  'ewick',
  'ylmoth',
  'ossery',
  'amble',
  'ingorn',
  'uxley',
  'orvane',
  'eptune',
  'iskell',
  'azzock',
  'unter',
  'ellow',
]

/** Returns an account as the platform has it. The first one has a plain name, so that every site can be discovered. */
const withFullName = (account: Account, index: number): Account =>
  index === 0 ? account : { ...account, name: account.name + NAME_END }

function kept<T>(account: T | undefined): T {
  if (account === undefined) throw new Error('the examiner has lost an account')
  return account
}

/** Makes an account of invented words, so that a page with such a word shows this very user. */
function accountOf(index: number): Account {
  const part = (list: readonly string[], place: number) => String(list[Math.floor(place) % 16])
  const more = index < 256 ? '' : part(beginnings, index / 256).toLowerCase()
  const word = part(beginnings, index) + part(ends, index / 16) + more
  const mirror = part(beginnings, index * 7 + 3) + part(ends, index * 5 + 11)
  return {
    accountId: `acct-${word.toLowerCase()}-${index}`,
    username: `${word.toLowerCase()}.${mirror.toLowerCase()}`,
    password: `Pw-${mirror}-${1000 + index}-made-up`,
    name: `${word} ${mirror}`,
  }
}
