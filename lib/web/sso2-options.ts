/** Options of `sso2()`. The comments are written by `npm run docs`, from the schema. */
import type { Request } from 'express'
import type { ConfigOptions } from '../config/config-options'
import type { ExchangeTicket, TicketExchange } from '../remote/token-endpoint'
import type { CustomViews } from './pages/views'
import type { LoadUser, OnLogin, OnLogout } from './site'

/** Options of `sso2()`. A missing option is read from the environment. An explicit option wins. */
export interface Sso2Options extends ConfigOptions {
  /**
   * Exchanges a ticket for an access token: `(ticket, { sid, signal })` returns a string, or the JSON of the token
   * endpoint. It shares a limit of 8 seconds with `loadUser`. Default: a form POST to `tokenUrl`.
   */
  readonly exchangeTicket?: ExchangeTicket | undefined
  /** Adapts the calls to your token endpoint. With `exchangeTicket` only `clientAuth` is accepted, for `sso.api`. */
  readonly ticketExchange?: TicketExchange | undefined
  /**
   * Loads the user of an access token: `({ accessToken, api, sid })` returns JSON with at least `accountId`. The result
   * becomes `req.sso2.user`. Default: GET of `userPath`.
   */
  readonly loadUser?: LoadUser | undefined
  /**
   * Is called as `(req, user)` once after each login established on this site: by the landing page, the login form or a
   * status check. It may write `req.session`; `req.sso2` does not know the login yet. The response waits for it, 2
   * seconds at most. An error is logged and changes nothing. Default: none.
   */
  readonly onLogin?: OnLogin | undefined
  /**
   * Is called as `(req, result)` once after each logout requested on this site, with `'confirmed'`, `'pending'` or
   * `'no_session'`. The rules of `onLogin` apply. Default: none.
   */
  readonly onLogout?: OnLogout | undefined
  /**
   * Decides whether a request may be redirected to Identify: `(request) => boolean`. By default a page load may, but
   * not of a crawler that announces itself. A prefetch that it lets through gets 503. Default: page loads by people.
   */
  readonly shouldIdentify?: ((request: Request) => boolean) | undefined
  /**
   * Custom pages: each function takes a context, the request and the response, and returns HTML, or a promise of HTML,
   * within 8 seconds (docs/login-pages.md).
   */
  readonly views?: CustomViews | undefined
}
