/** Defines the options of the emulator, and the complete configuration made from the options. */
import type { SessionStatus } from '../../protocol/claims'
import type { FaultOptions } from '../faults/rules'

/** An API client of the organisation. Usually each web site has its own client. */
export interface Client {
  /** `cid` of request tokens and `aud` of Session Tokens. */
  readonly clientId: string
  /** Secret that signs every token in both directions, and authenticates the client at the token endpoint. */
  readonly clientSecret: string
  readonly name: string
  /** Absolute http(s) address without a fragment. Identify redirects to no other address. */
  readonly landingPage: string
  /** Is the client flagged for SSO2? Interface: "Preconditions for SSO2". */
  readonly sso2: boolean
  readonly scopes: readonly string[]
}

/** An address of the REST API. Every field is optional, because the interface does not name required fields. */
export interface Address {
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
  readonly street?: string | undefined
  readonly street_number?: string | undefined
  readonly zip_code?: string | undefined
  readonly city?: string | undefined
  readonly country_code?: string | undefined
}

/** A subscription. Only an active subscription prevents a gift. */
export interface Subscription {
  readonly productCode: string
  readonly address: Address
  readonly active: boolean
}

/** A user's account. */
export interface Account {
  readonly accountId: string
  readonly username: string
  readonly password: string
  readonly name: string
  readonly email: string
  readonly active: boolean
  /** Scopes of the account. Default: every scope. */
  readonly scopes?: readonly string[] | undefined
  /** Administrator groups. An account without a group is not an administrator. */
  readonly groups: readonly string[]
  readonly subscriptions: readonly Subscription[]
  /** `created` of the administrator entries: `YYYY-MM-DDThh:mm:ss`, without a time zone. */
  readonly created: string
  /** Wrong passwords so far. */
  readonly failedAttempts: number
  /** Seconds that the account is still locked after the start. */
  readonly frozenForSeconds: number
}

/** A market of a marketplace group. Interface: "Market". */
export interface MarketOptions {
  readonly name: string
  readonly key: string
}

/** A marketplace group of the REST API. Interface: "Marketplace group". */
export interface MarketplaceGroupOptions {
  readonly name: string
  readonly key: string
  readonly image_url: string
  readonly image_link: string
  readonly rgb: string
  readonly header: string
  readonly description: string
  readonly markets: readonly MarketOptions[]
}

/** A campaign for gift subscriptions. */
interface Campaign {
  /** `campaign_code` of the REST call. */
  readonly productCode: string
  readonly name: string
  /** Other products that also prevent the gift if the receiver has an active subscription. */
  readonly conflictsWith: readonly string[]
}

/** Limits of the interface, and defaults for limits that the interface leaves open ("Limits"). Whole seconds. */
export interface Limits {
  /** Wrong passwords until an account is locked. Default 5. */
  readonly attemptsBeforeFreeze: number
  /** Default 43200: 12 hours. */
  readonly freezeSeconds: number
  /** Maximum of logged-in sessions of an account. Default 5. */
  readonly sessionsPerAccount: number
  /** Inactivity until a session is pruned. Default 7200. */
  readonly pruneAfterSeconds: number
  /** `exp` minus `iat` of Session Tokens. Default 10. Request tokens are always valid for up to 10 s. */
  readonly tokenSeconds: number
  /** Default 60. */
  readonly ticketSeconds: number
  /** Default 600. */
  readonly otpSeconds: number
  /** Default 3600. */
  readonly accessTokenSeconds: number
  /** Leeway on the times of request tokens. Default 0. */
  readonly leewaySeconds: number
}

/** A session that exists from the start. `export` writes such sessions, so that a scenario can be saved. */
export interface SavedSession {
  readonly sid: string
  /** Value of the browser's cookie. */
  readonly browser: string
  readonly status: SessionStatus
  /** For `loggedin` only. */
  readonly accountId?: string | undefined
  readonly ageSeconds: number
  readonly idleSeconds: number
}

/** The complete configuration. */
export interface Config {
  /** `iss` of request tokens. */
  readonly organisationId: string
  /** `aud` of request tokens and `iss` of Session Tokens. */
  readonly ssoIdentifier: string
  readonly clients: readonly Client[]
  readonly accounts: readonly Account[]
  readonly marketplaceGroups: readonly MarketplaceGroupOptions[]
  /** Are marketplace groups enabled? */
  readonly marketplaceEnabled: boolean
  readonly campaigns: readonly Campaign[]
  readonly limits: Limits
  /** Do times in tokens follow the emulator's clock (`virtual`) or the system's (`real`)? */
  readonly tokenTime: 'virtual' | 'real'
  /** Emulates the production environment: `debug_url` is refused. */
  readonly production: boolean
  readonly sessions: readonly SavedSession[]
  readonly faults: readonly FaultOptions[]
  /** Seconds by which the emulator's clock is ahead of the system's at the start. */
  readonly clockAheadSeconds: number
}

type WithDefaults<T, Defaulted extends keyof T> = Omit<T, Defaulted> & { readonly [K in Defaulted]?: T[K] | undefined }

/** Options of a client. Defaults: `name` is the client ID, `sso2` is true, `scopes` has the three scopes of the platform. */
export type ClientOptions = WithDefaults<Client, 'name' | 'sso2' | 'scopes'>

/** Options of a subscription. Active by default. */
export type SubscriptionOptions = WithDefaults<Subscription, 'active'>

/** Options of an account. Default: active, without groups and subscriptions. */
export type AccountOptions = Pick<Account, 'accountId' | 'username' | 'password' | 'scopes'> & {
  readonly [K in 'name' | 'email' | 'active' | 'groups' | 'created' | 'failedAttempts' | 'frozenForSeconds']?:
    | Account[K]
    | undefined
} & { readonly subscriptions?: readonly SubscriptionOptions[] | undefined }

/** Options of a campaign. */
export type CampaignOptions = WithDefaults<Campaign, 'name' | 'conflictsWith'>

/** Options of a saved session. Default: created and used at the start. */
export type SavedSessionOptions = WithDefaults<SavedSession, 'ageSeconds' | 'idleSeconds'>

/** Options of `createEmulator`. The demo data fills in missing options. Unknown keys are refused. */
export interface EmulatorOptions {
  /** `iss` of request tokens. Default `demo-press`. */
  readonly organisationId?: string | undefined
  /** `aud` of request tokens and `iss` of Session Tokens. Default `sso-service`. */
  readonly ssoIdentifier?: string | undefined
  /** API clients, usually a client for each site. Default: the two clients of the demo data. */
  readonly clients?: readonly ClientOptions[] | undefined
  /** Accounts that can log in. Default: `ada`, `grace` and `edsger`. */
  readonly accounts?: readonly AccountOptions[] | undefined
  /** Marketplace groups of the REST API. */
  readonly marketplaceGroups?: readonly MarketplaceGroupOptions[] | undefined
  /** Are marketplace groups enabled? Default true. */
  readonly marketplaceEnabled?: boolean | undefined
  /** Campaigns of gift subscriptions. */
  readonly campaigns?: readonly CampaignOptions[] | undefined
  /** Limits, each with a default. */
  readonly limits?: { readonly [K in keyof Limits]?: Limits[K] | undefined } | undefined
  /**
   * Clock of the times in tokens. `'virtual'`, the default in code, fits sites that share the emulator's clock.
   * `'real'`, the default of the command, fits other sites.
   */
  readonly tokenTime?: 'virtual' | 'real' | undefined
  /** Emulates the production environment: `debug_url` is refused. Default false. */
  readonly production?: boolean | undefined
  /** Sessions that exist from the start. Default: none. */
  readonly sessions?: readonly SavedSessionOptions[] | undefined
  /** Faults that are on from the start. Default: none. */
  readonly faults?: readonly FaultOptions[] | undefined
  /** Seconds by which the emulator's clock is ahead of the system's at the start. Default 0. */
  readonly clockAheadSeconds?: number | undefined
}
