/** Options of `sso2()`. The comments are written by `npm run docs`, from the schema. */
import type { Request } from 'express'
import type { ConfigOptions } from '../config/options'
import type { ExchangeTicket, TicketExchange } from '../remote/ticket'
import type { CustomViews, LoadUser, OnLogin, OnLogout } from './site'

/** Options of `sso2()`; the environment fills what is left out, and an explicit option wins. */
export interface Sso2Options extends ConfigOptions {
  /**
   * Exchanges a ticket for an access token: `(ticket, { sid, signal })` gives a text, or the token endpoint's JSON. It
   * has eight seconds, together with `loadUser`. Default: a form POST to `tokenUrl`.
   */
  readonly exchangeTicket?: ExchangeTicket | undefined
  /** Adapts the default exchange to an authorization server; without effect where `exchangeTicket` is given. */
  readonly ticketExchange?: TicketExchange | undefined
  /**
   * Names the user of an access token: `({ accessToken, api, sid })` gives JSON with at least `accountId`, which
   * becomes `req.sso2.user`. Default: GET of `userPath`.
   */
  readonly loadUser?: LoadUser | undefined
  /**
   * Is called as `(req, user)` once after each login established on this site: by the landing page, the login form or a
   * status check. It may write `req.session`. The response waits for it, 2 seconds at most. An error is logged and
   * changes nothing. Default: none.
   */
  readonly onLogin?: OnLogin | undefined
  /**
   * Is called as `(req, result)` once after each logout requested on this site, with `'confirmed'`, `'pending'` or
   * `'no_session'`. The rules of `onLogin` apply. Default: none.
   */
  readonly onLogout?: OnLogout | undefined
  /**
   * May this request be led through the SSO system? Answers at once, with true or false. By default a GET navigation of
   * a top-level document may, unless it is a prefetch or comes from a known bot. Default: navigations by people.
   */
  readonly shouldIdentify?: ((request: Request) => boolean) | undefined
  /** Pages of the site's own: context in, HTML or a promise of it out, within eight seconds (docs/custom-views.md). */
  readonly views?: CustomViews | undefined
}
