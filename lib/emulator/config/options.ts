/** What the emulator plays: options as they are given, and the complete configuration that is made of them. */
import type { SessionStatus } from '../../protocol/claims'
import type { FaultOptions } from '../faults/rules'

/** An API client of the organisation: one web site, as a rule. */
export interface Client {
  /** `cid` of request tokens and `aud` of Session Tokens. */
  readonly clientId: string
  /** Signs every token in both directions, and authenticates at the token endpoint. */
  readonly clientSecret: string
  readonly name: string
  /** Absolute http(s) address without a fragment; Identify redirects here and nowhere else. */
  readonly landingPage: string
  /** Is the client flagged for SSO2? Interface: "Preconditions for SSO2". */
  readonly sso2: boolean
  readonly scopes: readonly string[]
}

/** An address as the REST API writes it; every field is optional, since the interface does not say which are required. */
export interface Address {
  readonly first_name?: string | undefined
  readonly last_name?: string | undefined
  readonly street?: string | undefined
  readonly street_number?: string | undefined
  readonly zip_code?: string | undefined
  readonly city?: string | undefined
  readonly country_code?: string | undefined
}

/** A subscription in the subscription system; only an active one is in the way of a gift. */
export interface Subscription {
  readonly productCode: string
  readonly address: Address
  readonly active: boolean
}

/** A person's account. */
export interface Account {
  readonly accountId: string
  readonly username: string
  readonly password: string
  readonly name: string
  readonly email: string
  readonly active: boolean
  /** Scopes that the account has; every scope when left out. */
  readonly scopes?: readonly string[] | undefined
  /** Administrator groups; an account without any is no administrator. */
  readonly groups: readonly string[]
  readonly subscriptions: readonly Subscription[]
  /** `created` of its administrator entries: `YYYY-MM-DDThh:mm:ss`, without a zone. */
  readonly created: string
  /** Wrong passwords so far. */
  readonly failedAttempts: number
  /** Seconds that the account is still frozen when the emulator starts. */
  readonly frozenForSeconds: number
}

/** Interface: "Market". */
export interface Market {
  readonly name: string
  readonly key: string
}

/** Interface: "Marketplace group". */
export interface MarketplaceGroup {
  readonly name: string
  readonly key: string
  readonly image_url: string
  readonly image_link: string
  readonly rgb: string
  readonly header: string
  readonly description: string
  readonly markets: readonly Market[]
}

/** A campaign for gift subscriptions. */
interface Campaign {
  /** `campaign_code` of the REST call. */
  readonly productCode: string
  readonly name: string
  /** Further products whose active subscription makes a receiver not eligible. */
  readonly conflictsWith: readonly string[]
}

/** What the interface leaves open ("Limits"), and what it states; whole seconds. */
export interface Limits {
  /** Wrong passwords until an account is frozen. Default 5. */
  readonly attemptsBeforeFreeze: number
  /** Default 43200: 12 hours. */
  readonly freezeSeconds: number
  /** Sessions of one account that may be logged in at once. Default 5. */
  readonly sessionsPerAccount: number
  /** Inactivity after which a session is forgotten. Default 7200. */
  readonly pruneAfterSeconds: number
  /** `exp` minus `iat` of Session Tokens. Request tokens may always live 10 s. Default 10. */
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

/** A session that is there from the start: what `export` writes, so that a scenario can be kept. */
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
  readonly marketplaceGroups: readonly MarketplaceGroup[]
  /** The feature switch of marketplace groups. */
  readonly marketplaceEnabled: boolean
  readonly campaigns: readonly Campaign[]
  readonly limits: Limits
  /** Do the times in tokens follow the emulator's clock (`virtual`), or the system's (`real`)? */
  readonly tokenTime: 'virtual' | 'real'
  /** Plays the production environment: `debug_url` is refused. */
  readonly production: boolean
  readonly sessions: readonly SavedSession[]
  readonly faults: readonly FaultOptions[]
  /** How far the emulator's clock is ahead of the system's when it starts. */
  readonly clockAheadSeconds: number
}

type WithDefaults<T, Defaulted extends keyof T> = Omit<T, Defaulted> & { readonly [K in Defaulted]?: T[K] | undefined }

/** A client as it is given; left out: `name` is the client ID, `sso2` is true, `scopes` are the three of the interface. */
export type ClientOptions = WithDefaults<Client, 'name' | 'sso2' | 'scopes'>

/** A subscription as it is given; `active` unless it says otherwise. */
export type SubscriptionOptions = WithDefaults<Subscription, 'active'>

/** An account as it is given; active, without groups and subscriptions unless it says otherwise. */
export type AccountOptions = Pick<Account, 'accountId' | 'username' | 'password' | 'scopes'> & {
  readonly [K in 'name' | 'email' | 'active' | 'groups' | 'created' | 'failedAttempts' | 'frozenForSeconds']?:
    | Account[K]
    | undefined
} & { readonly subscriptions?: readonly SubscriptionOptions[] | undefined }

/** A campaign as it is given. */
export type CampaignOptions = WithDefaults<Campaign, 'name' | 'conflictsWith'>

/** A saved session as it is given; new and just seen unless it says otherwise. */
export type SavedSessionOptions = WithDefaults<SavedSession, 'ageSeconds' | 'idleSeconds'>

/** Options of `createEmulator`. What is left out comes from the demo data; unknown keys are refused. */
export interface EmulatorOptions {
  /** `iss` of request tokens. Default `demo-press`. */
  readonly organisationId?: string | undefined
  /** `aud` of request tokens and `iss` of Session Tokens. Default `sso-service`. */
  readonly ssoIdentifier?: string | undefined
  /** API clients, one a site. Default: the two of the demo. */
  readonly clients?: readonly ClientOptions[] | undefined
  /** Who can log in. Default: `ada`, `grace` and `edsger`. */
  readonly accounts?: readonly AccountOptions[] | undefined
  /** What the REST API answers. */
  readonly marketplaceGroups?: readonly MarketplaceGroup[] | undefined
  /** The feature switch of marketplace groups. Default true. */
  readonly marketplaceEnabled?: boolean | undefined
  /** Campaigns of gift subscriptions. */
  readonly campaigns?: readonly CampaignOptions[] | undefined
  /** Settings where the interface is silent, each with a default. */
  readonly limits?: { readonly [K in keyof Limits]?: Limits[K] | undefined } | undefined
  /** Times in tokens: `'virtual'` (default in code) for sites that share the emulator's clock, `'real'` (default of the command) for others. */
  readonly tokenTime?: 'virtual' | 'real' | undefined
  /** Plays the production environment: `debug_url` is refused. Default false. */
  readonly production?: boolean | undefined
  /** There from the start. Default: none. */
  readonly sessions?: readonly SavedSessionOptions[] | undefined
  /** Switched on from the start. Default: none. */
  readonly faults?: readonly FaultOptions[] | undefined
  /** How far the emulator's clock is ahead of the system's when it starts. Default 0. */
  readonly clockAheadSeconds?: number | undefined
}
