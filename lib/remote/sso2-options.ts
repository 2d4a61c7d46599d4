/** Options of the SSO system's client, and what each must be. */
import { z } from 'zod'
import { address, nameProblems } from '../config/validators'
import type { Operation } from '../protocol/claims'

/** Whoever wants to know how the SSO system is. */
export interface ClientWatch {
  /** A call got no usable answer; or an answer that refuses our tokens: then the error says `invalid_token`. */
  failed(operation: Operation, error: unknown): void
  /** After a row of failures it answers again. */
  back(): void
}

/** Options of `Sso2Client`. */
export interface Sso2ClientOptions {
  /** Base address of the SSO system. */
  readonly ssoUrl: string
  /** API client ID: `cid` of request tokens, and `aud` of Session Tokens. */
  readonly clientId: string
  /** The API client's secret. Of several, all verify, and the one that the SSO system takes signs; the first of them to begin with. */
  readonly clientSecret: string | readonly string[]
  /** `iss` of request tokens. */
  readonly organisationId: string
  /** `aud` of request tokens and `iss` of Session Tokens, default `sso-service`. */
  readonly ssoIdentifier?: string | undefined
  /** Bound on one Session Status call in milliseconds, default 2000; Authenticate has 8000, Logout 3000. */
  readonly timeoutMs?: number | undefined
  /** Leeway on token times in seconds, default 5. */
  readonly clockToleranceSeconds?: number | undefined
  /** Source of time in milliseconds since 1970, default the system's. */
  readonly clock?: { now(): number } | undefined
  /** Hears of every call that fails, those in the background too, and that the SSO system is back. Must not throw. */
  readonly watch?: ClientWatch | undefined
}

const fields = z.object({
  ssoUrl: address(false, 'https://sso.example'),
  clientId: z.string().min(1),
  clientSecret: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]),
  organisationId: z.string().min(1),
})

/** @throws {TypeError} that names every option that is wrong, and no value */
export function checkClientOptions(options: Sso2ClientOptions): void {
  const issues = fields.safeParse(options).error?.issues ?? []
  const problems = [
    ...issues.map(({ path, message }) => ({ option: path.join('.'), message })),
    ...nameProblems(options),
  ]
  if (problems.length > 0)
    throw new TypeError(`Sso2Client: ${problems.map(({ option, message }) => `${option}: ${message}`).join('; ')}`)
}
