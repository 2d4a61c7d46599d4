/** Words of the built-in pages, by code. A site's `texts` replace any of them. `{attempts}` and `{minutes}` are filled in. */

import type { Texts } from '../site'

/** The English texts. */
export const DEFAULT_TEXTS: Texts = Object.freeze({
  login_title: 'Log in',
  login_button: 'Log in',
  username: 'User name',
  password: 'Password',
  back: 'Back to the page',
  home: 'Go to the front page',
  logout_title: 'Log out',
  logout_question: 'Do you want to log out on this device?',
  logout_button: 'Log out',
  logout_all_title: 'Log out everywhere',
  logout_all_question: 'Do you want to log out on all your devices and sites?',
  logout_all_button: 'Log out everywhere',
  problem_title: 'That did not work',
  invalid_credentials: 'The user name or the password is wrong.',
  invalid_credentials_attempts:
    'The user name or the password is wrong. {attempts} attempts are left before the account is locked.',
  invalid_credentials_last: 'The user name or the password is wrong. One attempt is left before the account is locked.',
  account_frozen: 'Too many failed attempts: the account is locked for now.',
  account_frozen_minutes: 'Too many failed attempts: the account is locked for another {minutes} minutes.',
  account_not_active: 'This account is not active and cannot log in.',
  session_limit_reached: 'You are logged in on too many devices. Log out on one of them first.',
  invalid_otp: 'The one-time password is wrong.',
  otp_consumed_or_expired: 'The one-time password was already used, or has expired.',
  session_already_logged_in_on_another_account: 'Another account is logged in in this browser. Log out first.',
  login_failed: 'Logging in did not work. Check the user name and the password.',
  session_ended: 'Your session had ended. Please log in again.',
  too_many_attempts: 'Too many attempts. Please wait a moment and try again.',
  too_many_attempts_minutes:
    'Too many attempts. So that the account is not locked, please wait {minutes} minutes, or log in where you have done so before.',
  unavailable:
    'Logging in does not work at the moment. Please try again shortly; nothing was wrong with what you typed.',
  busy: 'Another login of this browser is under way. Please try again.',
  invalid_request: 'Please fill in the user name and the password.',
  cross_origin: 'This form was sent from another site and was not taken.',
  method_not_allowed: 'This address does not take that kind of request.',
  bad_request: 'The request could not be read.',
  cookies_blocked: 'Logging in needs cookies. Please allow cookies for this site and try again.',
  identify_loop: 'Logging in does not work at the moment. Please try again in a minute.',
  token_refused: 'Logging in does not work at the moment. Please try again in a minute.',
  prefetch: 'This page is not prefetched.',
})

/** One text, its placeholders filled. */
export function textOf(texts: Texts, code: string, values: Readonly<Record<string, number>> = {}): string {
  const found = (Object.hasOwn(texts, code) ? texts[code] : undefined) ?? DEFAULT_TEXTS[code] ?? code
  return found.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? String(values[name]) : whole,
  )
}
