/** Maps each refusal to the requirement of the interface, and each fault to its meaning. */
import type { Call } from '../platform/calls'

const TOKEN = 'Interface, "SSO JSON Web Token (JWT)" and "Request JWT claims"'

/** Requirements by outcome. Other refusals show their own detail. */
const refusals: Readonly<Record<string, string>> = {
  invalid_token: `${TOKEN}: signed HS256 with the client's secret, iss the organisation, aud the SSO system, exp 10 s after nbf and iat.`,
  invalid_client: `${TOKEN}: cid is the ID of an API client that is flagged for SSO2.`,
  bad_request:
    'Interface, "SSO2 endpoints": Identify takes t and r once. Each other operation takes a JSON body { "t": … }.',
  session_not_found:
    'Interface, "SSO2 errors": the session ID is incorrect, or the session was pruned. The site must run Identify.',
  session_terminated:
    'Interface, "States and transitions": a terminated session cannot be used for Authenticate. The site must run Identify.',
  invalid_credentials: 'Interface, "SSO2 errors": wrong username or password. raa holds the remaining attempts.',
  account_frozen: 'Interface, "SSO2 errors": too many failed attempts. frf holds the seconds until unlock.',
  account_not_active: 'Interface, "SSO2 errors": the account is not active and cannot log in.',
  session_limit_reached: 'Interface, "SSO2 errors": the user has the maximum number of active sessions.',
  session_already_logged_in_on_another_account:
    'Interface, "SSO2 errors": the session is logged in as another account. The site must log it out first.',
  invalid_otp: 'Interface, "SSO2 errors": the one-time password was rejected.',
  otp_consumed_or_expired: 'Interface, "SSO2 errors": the one-time password was used already, or has expired.',
  invalid_grant:
    'Interface, "SSO2", 3: a ticket is exchanged once, by the client that it was issued for, while its session lives.',
  missing_token: 'Interface, "REST API": each call sends authorization: Bearer <ACCESS_TOKEN>.',
  insufficient_scope: 'Interface, "Authentication": the access token needs the scope of the endpoint.',
  identity_required: 'Interface, "Authentication": this endpoint needs an access token with an identity.',
}

const faults: Readonly<Record<NonNullable<Call['fault']>, string>> = {
  down: 'Fault: the connection ends without a response.',
  hang: 'Fault: no response ever comes.',
  slow: 'Fault: the response comes late.',
  status: 'Fault: an HTTP status instead of a response.',
  garbage: 'Fault: the response cannot be read.',
  null: 'Fault: the response is JSON null.',
  empty: 'Fault: the response is empty.',
  huge: 'Fault: the response has 20 MB.',
  drip: 'Fault: the body of the response comes byte by byte, without an end.',
  drop_after_commit: 'Fault: the work was done, and the response was lost.',
  error: 'Fault: an error code in a signed response.',
  wrong_signature: 'Fault. Interface, "SSO2", 1: both sides verify that tokens are signed with the client\'s secret.',
  expired: 'Fault. Interface, "Session Token": exp is 10 s after creation. An older token must be refused.',
  skew: 'Fault: the clock of the platform is wrong. nbf, iat and exp are off.',
  wrong_session: 'Fault. Interface, "Session Token": sid must be that of the session that the site asked about.',
  wrong_audience: 'Fault. Interface, "Session Token": aud must be the client ID of the site.',
}

/** Outcomes of calls that worked. */
const good = new Set(['anon', 'loggedin', 'terminated', 'ok'])

/** Returns the verdict about a call, with the requirement if the verdict is not `ok`. */
export function judgeCall({ outcome, fault, detail }: Call): {
  verdict: 'ok' | 'refused' | 'fault'
  requirement?: string
} {
  const refusal = good.has(outcome) ? undefined : refusals[outcome]
  if (fault !== undefined) return { verdict: 'fault', requirement: [faults[fault], refusal].filter(Boolean).join(' ') }
  if (good.has(outcome)) return { verdict: 'ok' }
  return { verdict: 'refused', requirement: [detail?.replace(/\.?$/, '.'), refusal].filter(Boolean).join(' ') }
}
