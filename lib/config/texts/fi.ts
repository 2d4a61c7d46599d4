/** Finnish texts of the built-in pages. */
import type { AllTexts } from './en'

/** @see {@link AllTexts} */
export const FI: AllTexts = {
  login_title: 'Kirjaudu sisään',
  login_button: 'Kirjaudu sisään',
  login_to_continue: 'Kirjaudu sisään jatkaaksesi',
  error: 'Virhe:',
  username: 'Käyttäjätunnus',
  password: 'Salasana',
  forgot_password: 'Unohditko salasanasi?',
  new_here: 'Uusi käyttäjä?',
  create_account: 'Luo tili',
  help: 'Apua kirjautumiseen',
  back: 'Takaisin',
  home: 'Etusivulle',
  logout_title: 'Kirjaudu ulos',
  logout_question: 'Haluatko kirjautua ulos tältä laitteelta? Pysyt kirjautuneena muilla laitteilla.',
  logout_button: 'Kirjaudu ulos',
  cancel: 'Peruuta',
  logout_all_title: 'Kirjaudu ulos kaikkialta',
  logout_all_question: 'Haluatko kirjautua ulos kaikilta sivustoiltamme kaikilla laitteillasi?',
  logout_all_button: 'Kirjaudu ulos kaikkialta',
  problem_title: 'Jokin meni vikaan',
  logged_out_title: 'Olet kirjautunut ulos',
  no_access_title: 'Ei käyttöoikeutta',
  try_again_title: 'Yritä hetken kuluttua uudelleen',
  try_again: 'Yritä uudelleen',
  other_account: 'Käytä toista tiliä',
  invalid_credentials: 'Väärä käyttäjätunnus tai salasana.',
  invalid_credentials_attempts: 'Väärä käyttäjätunnus tai salasana. Voit yrittää vielä {attempts} kertaa.',
  invalid_credentials_last: 'Väärä käyttäjätunnus tai salasana. Voit yrittää vielä kerran.',
  account_frozen: 'Tili on väliaikaisesti lukittu liian monen epäonnistuneen yrityksen vuoksi.',
  account_frozen_minute:
    'Tili on lukittu liian monen epäonnistuneen yrityksen vuoksi. Yritä uudelleen minuutin kuluttua.',
  account_frozen_minutes:
    'Tili on lukittu liian monen epäonnistuneen yrityksen vuoksi. Yritä uudelleen {minutes} minuutin kuluttua.',
  account_frozen_hours:
    'Tili on lukittu liian monen epäonnistuneen yrityksen vuoksi. Yritä uudelleen {hours} tunnin kuluttua.',
  account_not_active: 'Tili ei ole käytössä, eikä sillä voi kirjautua sisään.',
  session_limit_reached: 'Olet kirjautunut sisään liian monella laitteella. Kirjaudu ensin ulos joltakin niistä.',
  invalid_otp: 'Kertakäyttösalasana on väärä.',
  otp_consumed_or_expired: 'Kertakäyttösalasana on jo käytetty, tai se on vanhentunut.',
  session_already_logged_in_on_another_account:
    'Tässä selaimessa on jo kirjauduttu sisään toisella tilillä. Kirjaudu ensin ulos.',
  login_failed: 'Kirjautuminen epäonnistui. Tarkista käyttäjätunnus ja salasana.',
  session_ended: 'Istuntosi on päättynyt. Kirjaudu sisään uudelleen.',
  too_many_attempts: 'Liian monta yritystä. Odota minuutti ja yritä uudelleen.',
  too_many_attempts_minutes:
    'Liian monta yritystä. Odota {minutes} minuuttia, jotta tiliä ei lukita, tai kirjaudu sisään laitteella, jolla olet kirjautunut aiemmin.',
  too_many_attempts_hours:
    'Liian monta yritystä. Odota {hours} tuntia, jotta tiliä ei lukita, tai kirjaudu sisään laitteella, jolla olet kirjautunut aiemmin.',
  unavailable: 'Kirjautuminen ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen.',
  unavailable_form:
    'Kirjautuminen ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen. Syynä ei ole käyttäjätunnuksesi tai salasanasi.',
  page_unavailable: 'Sivua ei voida näyttää juuri nyt. Yritä hetken kuluttua uudelleen.',
  login_required: 'Sinun täytyy kirjautua sisään nähdäksesi tämän sivun.',
  login_required_form:
    'Et ole enää kirjautuneena sisään, joten mitään ei tallennettu. Säilytä tekstisi näin: kirjaudu sisään uudessa välilehdessä, palaa tähän välilehteen, siirry yksi sivu taaksepäin ja lähetä lomake uudelleen.',
  not_allowed: 'Tililläsi ei ole pääsyä tälle sivulle.',
  logout_unavailable: 'Uloskirjautuminen ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen.',
  invalid_request: 'Anna käyttäjätunnus ja salasana.',
  cross_origin: 'Lomake lähetettiin toiselta sivustolta, eikä sitä hyväksytty.',
  method_not_allowed: 'Tämä osoite ei ota vastaan tällaisia pyyntöjä.',
  bad_request: 'Pyyntöä ei voitu lukea.',
  cookies_blocked: 'Kirjautuminen edellyttää evästeitä. Salli tämän sivuston evästeet ja yritä uudelleen.',
  identify_loop: 'Kirjautuminen ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen.',
  token_refused: 'Kirjautuminen ei onnistu juuri nyt. Yritä hetken kuluttua uudelleen.',
  prefetch: 'Tätä sivua ei ladata ennakkoon.',
}
