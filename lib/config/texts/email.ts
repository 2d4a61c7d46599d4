/** Texts of the built-in pages that name the username, for users who log in with their e-mail address: option `loginName`. */
import type { Language } from '.'
import type { AllTexts } from './en'

type NamingTexts = Pick<
  AllTexts,
  | 'username'
  | 'invalid_credentials'
  | 'invalid_credentials_attempts'
  | 'invalid_credentials_last'
  | 'login_failed'
  | 'unavailable_form'
  | 'invalid_request'
>

/** They replace those of the language. */
export const EMAIL_TEXTS: Readonly<Record<Language, NamingTexts>> = {
  en: {
    username: 'E-mail',
    invalid_credentials: 'The e-mail address or password is wrong.',
    invalid_credentials_attempts: 'The e-mail address or password is wrong. You have {attempts} attempts left.',
    invalid_credentials_last: 'The e-mail address or password is wrong. You have one attempt left.',
    login_failed: 'Logging in did not work. Please check the e-mail address and the password.',
    unavailable_form:
      'Logging in does not work at the moment. Please try again shortly. This has nothing to do with your e-mail address or password.',
    invalid_request: 'Please fill in the e-mail address and the password.',
  },
  sv: {
    username: 'E-post',
    invalid_credentials: 'Fel e-postadress eller lösenord.',
    invalid_credentials_attempts: 'Fel e-postadress eller lösenord. Du har {attempts} försök kvar.',
    invalid_credentials_last: 'Fel e-postadress eller lösenord. Du har ett försök kvar.',
    login_failed: 'Inloggningen misslyckades. Kontrollera e-postadressen och lösenordet.',
    unavailable_form:
      'Det går inte att logga in just nu. Försök igen om en stund. Felet beror inte på din e-postadress eller ditt lösenord.',
    invalid_request: 'Fyll i e-postadress och lösenord.',
  },
  nb: {
    username: 'E-post',
    invalid_credentials: 'Feil e-postadresse eller passord.',
    invalid_credentials_attempts: 'Feil e-postadresse eller passord. Du har {attempts} forsøk igjen.',
    invalid_credentials_last: 'Feil e-postadresse eller passord. Du har ett forsøk igjen.',
    login_failed: 'Innloggingen mislyktes. Kontroller e-postadressen og passordet.',
    unavailable_form:
      'Det er ikke mulig å logge inn akkurat nå. Prøv igjen om litt. Dette skyldes ikke e-postadressen eller passordet ditt.',
    invalid_request: 'Fyll inn e-postadresse og passord.',
  },
  da: {
    username: 'E-mail',
    invalid_credentials: 'Forkert e-mailadresse eller adgangskode.',
    invalid_credentials_attempts: 'Forkert e-mailadresse eller adgangskode. Du har {attempts} forsøg tilbage.',
    invalid_credentials_last: 'Forkert e-mailadresse eller adgangskode. Du har ét forsøg tilbage.',
    login_failed: 'Det lykkedes ikke at logge ind. Kontrollér e-mailadressen og adgangskoden.',
    unavailable_form:
      'Det er ikke muligt at logge ind lige nu. Prøv igen om lidt. Det skyldes ikke din e-mailadresse eller din adgangskode.',
    invalid_request: 'Indtast e-mailadresse og adgangskode.',
  },
  fi: {
    username: 'Sähköposti',
    invalid_credentials: 'Väärä sähköpostiosoite tai salasana.',
    invalid_credentials_attempts: 'Väärä sähköpostiosoite tai salasana. Voit yrittää vielä {attempts} kertaa.',
    invalid_credentials_last: 'Väärä sähköpostiosoite tai salasana. Voit yrittää vielä kerran.',
    login_failed: 'Kirjautuminen epäonnistui. Tarkista sähköpostiosoite ja salasana.',
    unavailable_form:
      'Kirjautuminen ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen. Syynä ei ole sähköpostiosoitteesi tai salasanasi.',
    invalid_request: 'Anna sähköpostiosoite ja salasana.',
  },
  de: {
    username: 'E-Mail-Adresse',
    invalid_credentials: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
    invalid_credentials_attempts:
      'Die E-Mail-Adresse oder das Passwort ist falsch. Sie haben noch {attempts} Versuche.',
    invalid_credentials_last: 'Die E-Mail-Adresse oder das Passwort ist falsch. Sie haben noch einen Versuch.',
    login_failed: 'Die Anmeldung ist fehlgeschlagen. Bitte prüfen Sie die E-Mail-Adresse und das Passwort.',
    unavailable_form:
      'Die Anmeldung ist zurzeit nicht möglich. Bitte versuchen Sie es in Kürze erneut. Das liegt nicht an Ihrer E-Mail-Adresse oder Ihrem Passwort.',
    invalid_request: 'Bitte geben Sie Ihre E-Mail-Adresse und Ihr Passwort ein.',
  },
}
