/** Checks passwords and one-time passwords, and locks accounts. Interface: "SSO2 errors", "Limits". */
import { createHash, randomInt, timingSafeEqual } from 'node:crypto'
import type { EpochSeconds, Sso2ServiceErrorCode } from '../../protocol/claims'
import { type AccountState, type Attempts, limitsOf, type Otp, type World } from './world'

/** The account, with the one-time password to consume after the login. For a refusal, the error with `raa` and `frf`. */
export type CredentialResult =
  | { readonly ok: true; readonly state: AccountState; readonly otp: Otp | undefined }
  | { readonly ok: false; readonly err: Sso2ServiceErrorCode; readonly raa: number; readonly frf: number }

/** Maximum of one-time passwords that an account remembers, to distinguish used passwords from wrong passwords. */
const REMEMBERED_OTPS = 20

/** Maximum of usernames without an account whose attempts are counted. */
const REMEMBERED_STRANGERS = 1000

/**
 * Checks username and password, and counts a wrong password.
 * Only a caller with the right password learns that an account is not active. Every caller learns that an account is locked.
 */
export function checkCredentials(world: World, usr: string, pwd: string, now: EpochSeconds): CredentialResult {
  const state = world.accountsByName.get(usr)
  const attempts = state?.attempts ?? attemptsOfUnknownName(world, usr)
  const frozenFor = frozenSeconds(attempts, now)
  if (frozenFor > 0) return failedCredentials('account_frozen', { frf: frozenFor })
  // Compared without an account too, so that the response time does not reveal whether the account exists.
  const hasPassword = isSameText(pwd, state?.account.password ?? '')
  if (!state) return countWrong(world, attempts, now, 'invalid_credentials')
  if (hasPassword) return accept(state, undefined)
  return checkOtp(world, state, pwd, now)
}

function checkOtp(world: World, state: AccountState, pwd: string, now: EpochSeconds): CredentialResult {
  const otp = /^\d{6}$/.test(pwd) ? state.otps.find(({ code }) => isSameText(pwd, code)) : undefined
  if (otp) return isUsable(otp, now) ? accept(state, otp) : failedCredentials('otp_consumed_or_expired')
  const expectsOtp = /^\d{6}$/.test(pwd) && state.otps.some((candidate) => isUsable(candidate, now))
  return countWrong(world, state.attempts, now, expectsOtp ? 'invalid_otp' : 'invalid_credentials')
}

function accept(state: AccountState, otp: Otp | undefined): CredentialResult {
  return state.account.active ? { ok: true, state, otp } : failedCredentials('account_not_active')
}

/** Completes a login: consumes the one-time password, and resets the counter of wrong attempts. */
export function consumeOtpAndResetAttempts(state: AccountState, otp: Otp | undefined): void {
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
  return failedCredentials(err, err === 'invalid_credentials' ? { raa: remaining } : {})
}

function failedCredentials(err: Sso2ServiceErrorCode, { raa = -1, frf = -1 } = {}): CredentialResult {
  return { ok: false, err, raa, frf }
}

/** Returns the seconds until the account is unlocked, or 0. Unlocks the account if the time is over. */
export function frozenSeconds(attempts: Attempts, now: EpochSeconds): number {
  if (attempts.frozenUntil === 0) return 0
  if (attempts.frozenUntil > now) return attempts.frozenUntil - now
  thaw(attempts)
  return 0
}

/** Locks from now on for `freezeSeconds`. */
export function freeze(world: World, attempts: Attempts, now: EpochSeconds): void {
  attempts.frozenUntil = now + limitsOf(world).freezeSeconds
}

/** Unlocks and resets the counter of wrong attempts. */
export function thaw(attempts: Attempts): void {
  attempts.failed = 0
  attempts.frozenUntil = 0
}

/**
 * Issues a one-time password of six digits.
 * The digits differ from the account's password and from its remembered one-time passwords.
 */
export function issueOtp(world: World, state: AccountState, now: EpochSeconds): Otp {
  const taken = new Set([state.account.password, ...state.otps.map(({ code }) => code)])
  let code = ''
  do code = String(randomInt(1_000_000)).padStart(6, '0')
  while (taken.has(code))
  const otp = { code, expiresAt: now + limitsOf(world).otpSeconds, consumed: false }
  state.otps = [...state.otps.slice(1 - REMEMBERED_OTPS), otp]
  return otp
}

/** Compares two texts in constant time. */
export function isSameText(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function isUsable({ consumed, expiresAt }: Otp, now: EpochSeconds): boolean {
  return !consumed && expiresAt > now
}

function attemptsOfUnknownName({ attemptsByUnknownName: strangers }: World, name: string): Attempts {
  const known = strangers.get(name)
  if (known) return known
  const fresh = { failed: 0, frozenUntil: 0 }
  strangers.set(name, fresh)
  const [oldest] = strangers.keys()
  if (strangers.size >= REMEMBERED_STRANGERS && oldest !== undefined) strangers.delete(oldest)
  return fresh
}
