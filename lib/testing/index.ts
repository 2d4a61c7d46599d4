/**
 * Helpers for the tests of sites with express-sso2: `signIn()` and `visit()`. They need `supertest` as a development dependency of the site.
 * They replace no part of the package: each request goes to the site under test or to the running emulator.
 * The browser: visitor.ts. The reasons in an error: record-events.ts.
 */
import type { Express } from 'express'
import type supertest from 'supertest'
import { sso2ErrorCodes } from '../protocol/claims'
import { type RecordedEvents, recordEvents } from './record-events'
import { type Visited, Visitor } from './visitor'

export type { Hop, Visited } from './visitor'

/** Credentials, and the path of the site's login page. */
export interface SignInOptions {
  /** Username of an account of the emulator. */
  readonly username: string
  /** Its password, or a one-time password. */
  readonly password: string
  /** Default `/login`. */
  readonly loginPath?: string | undefined
}

/**
 * Logs a user in for real: through Identify, the landing page and the login form, against the running emulator.
 * @param app the site: an Express application that need not listen
 * @param credentials username, password and login path
 * @returns a supertest agent with the site's cookies
 * @throws {Error} if the login failed, with HTTP status and error code, without the password
 */
export async function signIn(
  app: Express,
  { username, password, loginPath = '/login' }: SignInOptions,
): Promise<ReturnType<typeof supertest.agent>> {
  const visitor = new Visitor(app)
  const opened = await recordEvents('landing', () => visitor.visit(loginPath))
  if (opened.result.status !== 200)
    throw new Error(`signIn: GET ${loginPath} ended with ${endOf(opened.result)}${reasonOf(opened.heard)}`)
  const sent = await recordEvents('login', () => visitor.submit(loginPath, { username, password }))
  if (isRefused(sent.result, sent.heard))
    throw new Error(`signIn: the login was refused with ${sent.result.trail[0]?.status}${reasonOf(sent.heard)}`)
  return visitor.agent
}

/**
 * Opens a path as a visitor with a new browser would, and follows every redirect.
 * @param app the site: an Express application that need not listen
 * @param path of the site, with its query
 * @returns the last page, with the browser for further requests
 * @throws {Error} after more than 20 redirects
 */
export function visit(app: Express, path: string): Promise<Visited> {
  return new Visitor(app).visit(path)
}

/**
 * Was the login refused? A custom form may respond to a refusal with a redirect. If the SSO session has ended, the browser is redirected to
 * Identify.
 */
function isRefused({ trail }: Visited, heard: readonly RecordedEvents[]): boolean {
  const status = trail[0]?.status
  const isOnlyOne = heard.length === 1 && heard[0]?.outcome === 'refused'
  return (status !== 303 && status !== 302) || isOnlyOne || trail.some(({ url }) => /\/identify\?/.test(url))
}

/** Describes the last page of a visit, with the message of an emulator page. Omits the query, because a query may contain a token. */
function endOf({ status, url, text }: Visited): string {
  if (!URL.canParse(url)) return String(status)
  const { origin, pathname } = new URL(url)
  const [, page = ''] = /<main>[\s\S]*?<p>([^<]{1,300})<\/p>/.exec(text) ?? []
  const says = page.replaceAll('&#39;', "'")
  const advice = /expired|in the future/.test(says) ? ` (${CLOCK})` : ''
  return `${status} at ${origin}${pathname}${says && `, which says: ${says}${advice}`}`
}

const CLOCK = "give the site the emulator's clock: sso2({ clock: emulator.clock })"

/** Advice for codes whose usual cause is in the test and not in the site. */
const ADVICE: Readonly<Record<string, string>> = {
  session_limit_reached: 'emulator.reset() between tests, or limits.sessionsPerAccount',
  account_frozen: 'emulator.account(username).unfreeze(), or emulator.reset()',
  too_many_attempts: 'loginLimit: false in tests',
  unavailable: 'the emulator, the token endpoint, loadUser or the store did not answer',
  not_yet_valid: CLOCK,
  expired: CLOCK,
}

const MEANINGS: Readonly<Record<string, string>> = sso2ErrorCodes

/** Returns the reported reasons, each with a meaning. */
function reasonOf(heard: readonly RecordedEvents[]): string {
  const reasons = [...new Set(heard.flatMap(({ reason }) => reason ?? []))]
  const texts = reasons.map((reason) => {
    const more = [MEANINGS[reason], ADVICE[reason]].filter((text) => text !== undefined).join('; ')
    return `${reason}${more && ` (${more})`}`
  })
  return texts.length > 0 ? `: ${texts.join(', ')}` : ''
}
