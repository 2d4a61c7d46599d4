/** German texts of the built-in pages. */
import type { AllTexts } from './en'

/** @see {@link AllTexts} */
export const DE: AllTexts = {
  login_title: 'Anmelden',
  login_button: 'Anmelden',
  login_to_continue: 'Anmelden und fortfahren',
  error: 'Fehler:',
  username: 'Benutzername',
  password: 'Passwort',
  forgot_password: 'Passwort vergessen?',
  new_here: 'Neu hier?',
  create_account: 'Konto erstellen',
  help: 'Hilfe bei der Anmeldung',
  back: 'Zurück',
  home: 'Zur Startseite',
  logout_title: 'Abmelden',
  logout_question: 'Möchten Sie sich auf diesem Gerät abmelden? Auf anderen Geräten bleiben Sie angemeldet.',
  logout_button: 'Abmelden',
  cancel: 'Abbrechen',
  logout_all_title: 'Überall abmelden',
  logout_all_question: 'Möchten Sie sich auf allen Ihren Geräten von allen unseren Websites abmelden?',
  logout_all_button: 'Überall abmelden',
  problem_title: 'Etwas ist schiefgegangen',
  logged_out_title: 'Sie sind abgemeldet',
  no_access_title: 'Kein Zugriff',
  try_again_title: 'Bitte erneut versuchen',
  try_again: 'Erneut versuchen',
  other_account: 'Anderes Konto verwenden',
  invalid_credentials: 'Der Benutzername oder das Passwort ist falsch.',
  invalid_credentials_attempts: 'Der Benutzername oder das Passwort ist falsch. Sie haben noch {attempts} Versuche.',
  invalid_credentials_last: 'Der Benutzername oder das Passwort ist falsch. Sie haben noch einen Versuch.',
  account_frozen: 'Das Konto ist nach zu vielen Fehlversuchen vorübergehend gesperrt.',
  account_frozen_minute:
    'Das Konto ist nach zu vielen Fehlversuchen gesperrt. Bitte versuchen Sie es in einer Minute erneut.',
  account_frozen_minutes:
    'Das Konto ist nach zu vielen Fehlversuchen gesperrt. Bitte versuchen Sie es in {minutes} Minuten erneut.',
  account_frozen_hours:
    'Das Konto ist nach zu vielen Fehlversuchen gesperrt. Bitte versuchen Sie es in {hours} Stunden erneut.',
  account_not_active: 'Dieses Konto ist nicht aktiv. Eine Anmeldung ist damit nicht möglich.',
  session_limit_reached: 'Sie sind auf zu vielen Geräten angemeldet. Bitte melden Sie sich zuerst auf einem davon ab.',
  invalid_otp: 'Das Einmalpasswort ist falsch.',
  otp_consumed_or_expired: 'Das Einmalpasswort wurde bereits verwendet oder ist abgelaufen.',
  session_already_logged_in_on_another_account:
    'In diesem Browser ist bereits ein anderes Konto angemeldet. Bitte melden Sie sich zuerst ab.',
  login_failed: 'Die Anmeldung ist fehlgeschlagen. Bitte prüfen Sie den Benutzernamen und das Passwort.',
  session_ended: 'Ihre Sitzung ist abgelaufen. Bitte melden Sie sich erneut an.',
  too_many_attempts: 'Zu viele Versuche. Bitte warten Sie eine Minute und versuchen Sie es erneut.',
  too_many_attempts_minutes:
    'Zu viele Versuche. Damit das Konto nicht gesperrt wird, warten Sie bitte {minutes} Minuten oder melden Sie sich auf einem Gerät an, auf dem Sie schon einmal angemeldet waren.',
  too_many_attempts_hours:
    'Zu viele Versuche. Damit das Konto nicht gesperrt wird, warten Sie bitte {hours} Stunden oder melden Sie sich auf einem Gerät an, auf dem Sie schon einmal angemeldet waren.',
  unavailable: 'Die Anmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es in Kürze erneut.',
  unavailable_form:
    'Die Anmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es in Kürze erneut. Das liegt nicht an Ihrem Benutzernamen oder Passwort.',
  page_unavailable: 'Diese Seite kann zurzeit nicht angezeigt werden. Bitte versuchen Sie es in Kürze erneut.',
  login_required: 'Bitte melden Sie sich an, um diese Seite zu sehen.',
  login_required_form:
    'Sie sind nicht mehr angemeldet, deshalb wurde nichts gespeichert. So behalten Sie Ihren Text: Melden Sie sich in einem neuen Tab an, kommen Sie in diesen Tab zurück, gehen Sie eine Seite zurück und senden Sie das Formular noch einmal.',
  not_allowed: 'Ihr Konto hat keinen Zugriff auf diese Seite.',
  logout_unavailable: 'Die Abmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es in Kürze erneut.',
  invalid_request: 'Bitte geben Sie Ihren Benutzernamen und Ihr Passwort ein.',
  cross_origin: 'Dieses Formular wurde von einer anderen Website gesendet und nicht angenommen.',
  method_not_allowed: 'Diese Adresse nimmt Anfragen dieser Art nicht entgegen.',
  bad_request: 'Die Anfrage konnte nicht gelesen werden.',
  cookies_blocked:
    'Für die Anmeldung werden Cookies benötigt. Bitte lassen Sie Cookies für diese Website zu und versuchen Sie es erneut.',
  identify_loop: 'Die Anmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es in einigen Sekunden erneut.',
  token_refused: 'Die Anmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es in einigen Sekunden erneut.',
  prefetch: 'Diese Seite wird nicht im Voraus geladen.',
}
