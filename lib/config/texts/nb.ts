/** Norwegian (bokmål) texts of the built-in pages. */
import type { AllTexts } from './en'

/** @see {@link AllTexts} */
export const NB: AllTexts = {
  login_title: 'Logg inn',
  login_button: 'Logg inn',
  username: 'Brukernavn',
  password: 'Passord',
  forgot_password: 'Glemt passordet?',
  create_account: 'Opprett konto',
  help: 'Hjelp til innlogging',
  back: 'Gå tilbake',
  home: 'Til forsiden',
  logout_title: 'Logg ut',
  logout_question: 'Vil du logge ut på denne enheten?',
  logout_button: 'Logg ut',
  logout_all_title: 'Logg ut overalt',
  logout_all_question: 'Vil du logge ut av alle nettstedene våre på alle enhetene dine?',
  logout_all_button: 'Logg ut overalt',
  problem_title: 'Noe gikk galt',
  invalid_credentials: 'Feil brukernavn eller passord.',
  invalid_credentials_attempts: 'Feil brukernavn eller passord. Du har {attempts} forsøk igjen.',
  invalid_credentials_last: 'Feil brukernavn eller passord. Du har ett forsøk igjen.',
  account_frozen: 'Kontoen er midlertidig låst etter for mange mislykkede forsøk.',
  account_frozen_minute: 'Kontoen er låst etter for mange mislykkede forsøk. Prøv igjen om ett minutt.',
  account_frozen_minutes: 'Kontoen er låst etter for mange mislykkede forsøk. Prøv igjen om {minutes} minutter.',
  account_frozen_hours: 'Kontoen er låst etter for mange mislykkede forsøk. Prøv igjen om {hours} timer.',
  account_not_active: 'Kontoen er ikke aktiv og kan ikke brukes til å logge inn.',
  session_limit_reached: 'Du er logget inn på for mange enheter. Logg ut på en av dem først.',
  invalid_otp: 'Feil engangspassord.',
  otp_consumed_or_expired: 'Engangspassordet er allerede brukt eller utløpt.',
  session_already_logged_in_on_another_account:
    'En annen konto er allerede logget inn i denne nettleseren. Logg ut først.',
  login_failed: 'Innloggingen mislyktes. Kontroller brukernavnet og passordet.',
  session_ended: 'Økten din er utløpt. Logg inn på nytt.',
  send_again: 'Du kunne ikke logges inn ennå. Send skjemaet på nytt.',
  too_many_attempts: 'For mange forsøk. Vent litt og prøv igjen.',
  too_many_attempts_minutes:
    'For mange forsøk. Vent {minutes} minutter, så kontoen ikke blir låst, eller logg inn på en enhet der du har vært logget inn før.',
  too_many_attempts_hours:
    'For mange forsøk. Vent {hours} timer, så kontoen ikke blir låst, eller logg inn på en enhet der du har vært logget inn før.',
  unavailable: 'Det er ikke mulig å logge inn akkurat nå. Prøv igjen om litt.',
  unavailable_form:
    'Det er ikke mulig å logge inn akkurat nå. Prøv igjen om litt. Dette skyldes ikke brukernavnet eller passordet ditt.',
  page_unavailable: 'Siden kan ikke vises akkurat nå. Prøv igjen om litt.',
  login_required: 'Du må logge inn for å se denne siden.',
  login_required_form:
    'Du er ikke lenger innlogget, så ingenting ble lagret. For å beholde teksten: logg inn i en ny fane, kom tilbake til denne fanen, gå én side tilbake og send skjemaet på nytt.',
  not_allowed: 'Kontoen din har ikke tilgang til denne siden.',
  logout_unavailable: 'Det er ikke mulig å logge ut akkurat nå. Prøv igjen om litt.',
  busy: 'En annen innlogging pågår i denne nettleseren. Prøv igjen om et øyeblikk.',
  invalid_request: 'Fyll inn brukernavn og passord.',
  cross_origin: 'Skjemaet ble sendt fra et annet nettsted og ble ikke godtatt.',
  method_not_allowed: 'Denne adressen tar ikke imot denne typen forespørsler.',
  bad_request: 'Forespørselen kunne ikke leses.',
  cookies_blocked:
    'Innloggingen krever informasjonskapsler. Tillat informasjonskapsler for dette nettstedet og prøv igjen.',
  identify_loop: 'Det er ikke mulig å logge inn akkurat nå. Prøv igjen om et øyeblikk.',
  token_refused: 'Det er ikke mulig å logge inn akkurat nå. Prøv igjen om et øyeblikk.',
  prefetch: 'Denne siden lastes ikke inn på forhånd.',
}
