/** Plays a second site of the same publisher, with its own client and without pages. */
import { type Browser, USER_AGENT } from './browser'
import { need } from './finding'
import type { Account, Platform } from './platform'
import { sendRequest } from './request'
import { type Claims, decodeToken, forge } from './tokens'

export class SecondSite {
  constructor(private readonly platform: Platform) {}

  /**
   * Sends a browser through Identify.
   * @returns the browser's SSO session ID
   */
  async identify(browser: Browser): Promise<string> {
    const token = await this.landingToken(browser)
    return String(decodeToken(token)?.claims['sid'])
  }

  /** Returns the Session Token that Identify sends to the second site's landing page. */
  async landingToken(browser: Browser): Promise<string> {
    const address = `${this.platform.url}/sso/identify?t=${this.#request({})}&r=http%3A%2F%2Fsecond.invalid%2F`
    const page = await browser.open(address, { stopAt: ({ hostname }) => hostname === 'second.invalid' })
    const token = page.next === undefined ? null : new URL(page.next).searchParams.get('t')
    need(token, 'the platform of the examiner does not respond')
    return token
  }

  /** Logs an account in on the browser's SSO session. */
  async login(browser: Browser, account: Account): Promise<{ account: Account; sid: string }> {
    const sid = await this.identify(browser)
    const { username: usr, password: pwd } = account
    const claims = await this.call('authenticate', { sid, usr, pwd })
    need(claims['sts'] === 'loggedin', 'the second site could not log in')
    return { account, sid }
  }

  /** Logs an SSO session out. */
  async logout(sid: string): Promise<void> {
    await this.call('logout', { sid })
  }

  /** Makes a server-to-server call. */
  async call(operation: string, claims: Claims): Promise<Claims> {
    const t = this.#request({ ...claims, ipa: '127.0.0.1', uas: USER_AGENT })
    const { text } = await sendRequest({
      method: 'POST',
      url: new URL(`${this.platform.url}/sso/${operation}`),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ t }),
    })
    const { t: token } = Object(JSON.parse(text))
    return { ...decodeToken(String(token))?.claims }
  }

  #request(claims: Claims): string {
    const now = Math.floor(Date.now() / 1000)
    const { organisationId: iss, ssoIdentifier: aud } = this.platform.addresses
    const { clientId: cid, clientSecret: secret } = this.platform.second
    return forge({ cid, nbf: now, iat: now, exp: now + 10, iss, aud, ...claims }, { secret })
  }
}
