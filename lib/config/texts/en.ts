/** English texts of the built-in pages. Every other language has the same codes. */

/** `{attempts}`, `{minutes}` and `{hours}` are replaced by numbers of two or more. */
export const EN = {
  login_title: 'Log in',
  login_button: 'Log in',
  login_to_continue: 'Log in to continue',
  error: 'Error:',
  username: 'Username',
  password: 'Password',
  forgot_password: 'Forgotten your password?',
  new_here: 'New here?',
  create_account: 'Create an account',
  help: 'Help with logging in',
  back: 'Go back',
  home: 'Go to the front page',
  logout_title: 'Log out',
  logout_question: 'Do you want to log out on this device? You stay logged in on other devices.',
  logout_button: 'Log out',
  cancel: 'Cancel',
  logout_all_title: 'Log out everywhere',
  logout_all_question: 'Do you want to log out of all our sites, on all your devices?',
  logout_all_button: 'Log out everywhere',
  problem_title: 'Something went wrong',
  logged_out_title: 'You are logged out',
  no_access_title: 'No access',
  try_again_title: 'Please try again',
  try_again: 'Try again',
  other_account: 'Use another account',
  invalid_credentials: 'The username or password is wrong.',
  invalid_credentials_attempts: 'The username or password is wrong. You have {attempts} attempts left.',
  invalid_credentials_last: 'The username or password is wrong. You have one attempt left.',
  account_frozen: 'The account is locked for now, after too many failed attempts.',
  account_frozen_minute: 'The account is locked after too many failed attempts. Please try again in a minute.',
  account_frozen_minutes:
    'The account is locked after too many failed attempts. Please try again in {minutes} minutes.',
  account_frozen_hours: 'The account is locked after too many failed attempts. Please try again in {hours} hours.',
  account_not_active: 'This account is not active and cannot be used to log in.',
  session_limit_reached: 'You are logged in on too many devices. Please log out on one of them first.',
  invalid_otp: 'The one-time password is wrong.',
  otp_consumed_or_expired: 'The one-time password has already been used, or has expired.',
  session_already_logged_in_on_another_account:
    'Another account is already logged in in this browser. Please log out first.',
  login_failed: 'Logging in did not work. Please check the username and the password.',
  session_ended: 'Your session has ended. Please log in again.',
  too_many_attempts: 'Too many attempts. Please wait a minute and try again.',
  too_many_attempts_minutes:
    'Too many attempts. To keep the account from being locked, please wait {minutes} minutes, or log in on a device on which you have logged in before.',
  too_many_attempts_hours:
    'Too many attempts. To keep the account from being locked, please wait {hours} hours, or log in on a device on which you have logged in before.',
  unavailable: 'Logging in does not work at the moment. Please try again shortly.',
  unavailable_form:
    'Logging in does not work at the moment. Please try again shortly. This has nothing to do with your username or password.',
  page_unavailable: 'This page cannot be shown at the moment. Please try again shortly.',
  login_required: 'You need to log in to see this page.',
  login_required_form:
    'You are not logged in any more, so nothing was saved. To keep your text: log in in a new tab, come back to this tab, go back one page, and send the form again.',
  not_allowed: 'Your account does not have access to this page.',
  logout_unavailable: 'Logging out does not work at the moment. Please try again shortly.',
  invalid_request: 'Please fill in the username and the password.',
  cross_origin: 'This form was sent from another site and was not accepted.',
  method_not_allowed: 'This address does not take that kind of request.',
  bad_request: 'The request could not be read.',
  cookies_blocked: 'Logging in needs cookies. Please allow cookies for this site and try again.',
  identify_loop: 'Logging in does not work at the moment. Please try again in a few seconds.',
  token_refused: 'Logging in does not work at the moment. Please try again in a few seconds.',
  prefetch: 'This page is not loaded in advance.',
}

/** Code of a text of the built-in pages. docs/login-pages.md lists all codes. */
export type TextCode = keyof typeof EN
/** A text for every code. */
export type AllTexts = Readonly<Record<TextCode, string>>
