/** Passwords, one-time passwords, and freezing. Interface: "SSO2 errors", "Limits". */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import type { EpochSeconds, Sso2ServiceErrorCode } from '../../protocol/claims'
import { type AccountState, type Attempts, limitsOf, type Otp, type World } from './world'

/** Who it is, and the one-time password to consume when the login succeeds; or why not, with `raa` and `frf`. */
export type CredentialResult =
  | { readonly ok: true; readonly state: AccountState; readonly otp: Otp | undefined }
  | { readonly ok: false; readonly err: Sso2ServiceErrorCode; readonly raa: number; readonly frf: number }

/** How many issued one-time passwords an account remembers, to tell used ones from wrong ones. */
const REMEMBERED_OTPS = 20

/** How many names that are no account have their attempts counted. */
const REMEMBERED_STRANGERS = 1000

/**
 * Judges user name and password, and counts a wrong one. An account that is not active is named so only to somebody
 * who knows its password; a frozen one says so to everybody.
 */
export function checkCredentials(world: World, usr: string, pwd: string, now: EpochSeconds): CredentialResult {
  const state = world.accountsByName.get(usr)
  const attempts = state?.attempts ?? attemptsOfStranger(world, usr)
  const frozenFor = frozenSeconds(attempts, now)
  if (frozenFor > 0) return failed('account_frozen', { frf: frozenFor })
  // Compared for a stranger too, so that the time taken does not tell whether the account exists.
  const hasPassword = isSameText(pwd, state?.account.password ?? '')
  if (!state) return countWrong(world, attempts, now, 'invalid_credentials')
  if (hasPassword) return accept(state, undefined)
  return checkOtp(world, state, pwd, now)
}

function checkOtp(world: World, state: AccountState, pwd: string, now: EpochSeconds): CredentialResult {
  const otp = /^\d{6}$/.test(pwd) ? state.otps.find(({ code }) => isSameText(pwd, code)) : undefined
  if (otp) return isUsable(otp, now) ? accept(state, otp) : failed('otp_consumed_or_expired')
  const expectsOtp = /^\d{6}$/.test(pwd) && state.otps.some((candidate) => isUsable(candidate, now))
  return countWrong(world, state.attempts, now, expectsOtp ? 'invalid_otp' : 'invalid_credentials')
}

function accept(state: AccountState, otp: Otp | undefined): CredentialResult {
  return state.account.active ? { ok: true, state, otp } : failed('account_not_active')
}

/** A login that succeeded: the one-time password is used up, and wrong attempts are forgotten. */
export function settleLogin(state: AccountState, otp: Otp | undefined): void {
  if (otp) otp.consumed = true
  state.attempts.failed = 0
}

function countWrong(
  world: World,
  attempts: Attempts,
  now: EpochSeconds,
  err: 'invalid_credentials' | 'invalid_otp',
): CredentialResult {
  const { attemptsBeforeFreeze } = limitsOf(world)
  attempts.failed += 1
  const remaining = Math.max(0, attemptsBeforeFreeze - attempts.failed)
  if (remaining === 0) freeze(world, attempts, now)
  return failed(err, err === 'invalid_credentials' ? { raa: remaining } : {})
}

function failed(err: Sso2ServiceErrorCode, { raa = -1, frf = -1 } = {}): CredentialResult {
  return { ok: false, err, raa, frf }
}

/** Seconds that the account stays frozen; 0 when it is not. A freeze that is over is lifted here. */
export function frozenSeconds(attempts: Attempts, now: EpochSeconds): number {
  if (attempts.frozenUntil === 0) return 0
  if (attempts.frozenUntil > now) return attempts.frozenUntil - now
  thaw(attempts)
  return 0
}

/** Freezes from now on, for as long as the configuration says. */
export function freeze(world: World, attempts: Attempts, now: EpochSeconds): void {
  attempts.frozenUntil = now + limitsOf(world).freezeSeconds
}

/** Lifts a freeze and forgets wrong attempts. */
export function thaw(attempts: Attempts): void {
  attempts.failed = 0
  attempts.frozenUntil = 0
}

/** Issues a one-time password of six digits, which no earlier one of the account has, and which is not its password. */
export function issueOtp(world: World, state: AccountState, now: EpochSeconds): Otp {
  const taken = new Set([state.account.password, ...state.otps.map(({ code }) => code)])
  let code = ''
  do code = String(randomInt(1_000_000)).padStart(6, '0')
  while (taken.has(code))
  const otp = { code, expiresAt: now + limitsOf(world).otpSeconds, consumed: false }
  state.otps = [...state.otps.slice(1 - REMEMBERED_OTPS), otp]
  return otp
}

/** Equality of two texts in a time that does not depend on where they differ. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isUsable({ consumed, expiresAt }: Otp, now: EpochSeconds): boolean {
  return !consumed && expiresAt > now
}

function attemptsOfStranger({ strangers }: World, name: string): Attempts {
  const known = strangers.get(name)
  if (known) return known
  const [oldest] = strangers.keys()
  if (strangers.size >= REMEMBERED_STRANGERS && oldest !== undefined) strangers.delete(oldest)
  const fresh = { failed: 0, frozenUntil: 0 }
  strangers.set(name, fresh)
  return fresh
}
