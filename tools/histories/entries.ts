/*
 * What a history is made of. Times are the checker's own, in milliseconds (`performance.now()`), unless a name says `clock`: that is
 * the clock of platform and site, in seconds, which a history moves forward.
 */

/** What a browser did. `form`: it looks at the login form; `old`: a cookie of an earlier session from another browser; `steal`: somebody's landing address. */
export type What =
  | 'page'
  | 'form'
  | 'script'
  | 'put'
  | 'fresh'
  | 'login'
  | 'wrong'
  | 'logout'
  | 'logoutAll'
  | 'old'
  | 'steal'

/** One step: what a browser did and saw. */
export interface Entry {
  readonly agent: number
  readonly what: What
  readonly begin: number
  readonly end: number
  readonly clock: number
  /** HTTP status of the last answer; 0: none came; -1: redirects without an end. */
  readonly status: number
  /** Who gave the last answer, or should have. */
  readonly at: 'site' | 'platform'
  /** The slowest answer of the site on the way, in milliseconds. */
  readonly slowest: number
  /** Requests on the way, and how many of them the site had. */
  readonly hops: number
  readonly asked: number
  /** `req.sso2.status`, where a page of the site's own was served. */
  readonly view?: string | undefined
  /** Who the page was for. */
  readonly user?: string | undefined
  readonly degraded?: string | undefined
  /** What the page found in `req.session`; each item names who put it there. */
  readonly items?: readonly string[] | undefined
  /** The page did not look into `req.session`. */
  readonly isLean?: boolean | undefined
  readonly item?: string | undefined
  /** Whose password was sent; whose sessions were to end. */
  readonly account?: string | undefined
  /** Why a login was refused, where a script was told. */
  readonly error?: string | undefined
  /** What the site said of a logout. */
  readonly logout?: string | undefined
  /** When the browser was first seen to have the old cookie. */
  readonly heldAt?: number | undefined
}

/** Which part is in trouble. `loss`: the store lost everything; `time`: none, but time passed; `busy`: the machine, and nobody's fault. */
export type Part = 'platform' | 'store' | 'loss' | 'process' | 'clock' | 'time' | 'busy'

export interface Trouble {
  readonly part: Part
  readonly name: string
  readonly begin: number
  readonly end: number
  readonly clockBegin: number
  readonly clockEnd: number
}

/** Sessions that ended at the platform, and not by the site. */
export interface Ended {
  readonly begin: number
  readonly end: number
  readonly clock: number
  /** Whose; `undefined`: everybody's. */
  readonly account?: string | undefined
}

/** A call that the platform had. */
export interface Asked {
  readonly operation: string
  readonly clock: number
  /** When the checker saw it, a moment after it was answered. */
  readonly seen: number
  readonly sid: string | undefined
  /** User name of an Authenticate. */
  readonly username: string | undefined
  /** Account of a Logout all. */
  readonly aid: string | undefined
  readonly lks: string | undefined
  readonly outcome: string
  readonly isSpoilt: boolean
}

/** What the end of a history showed, when everything was well again. */
export interface Aftermath {
  /** Accounts whose browsers had all logged out and come back, and which are still logged in at the platform. */
  readonly stillIn: readonly string[]
  /** What did not work. */
  readonly broken: readonly string[]
}

/** Bounds that depend on how the site is set up, in seconds. */
export interface Bounds {
  readonly recheckSeconds: number
  readonly graceSeconds: number
}

/** Everything that was seen. */
export interface History {
  readonly bounds: Bounds
  readonly entries: readonly Entry[]
  readonly troubles: readonly Trouble[]
  readonly ends: readonly Ended[]
  readonly calls: readonly Asked[]
  readonly aftermath: Aftermath
  /** Ends and warnings of processes that nobody asked for. */
  readonly mishaps: readonly string[]
}
