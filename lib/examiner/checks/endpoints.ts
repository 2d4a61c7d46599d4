/** Finds what the scripts of the site load for a user, and asks for it as a script does. */
import { type Browser, ownScript, type Page } from '../browser'
import { isLoginOrLogout } from '../facts'
import { matchesOf } from '../html'
import type { Account } from '../platform'
import type { Stage } from '../stage'

/** An address whose response shows the user, with the headers that it takes. */
export interface Endpoint {
  readonly address: string
  readonly headers: Readonly<Record<string, string>>
}

/** A path in quotes, as pages and scripts have it. */
const QUOTED_PATH = /["'`](\/(?!\/)[\w./-]{2,80})["'`?]/g
const SCRIPT = /<script\b[^>]*\ssrc=["']?([^"'\s>]+)/gi
const ASSET = /\.(?:js|mjs|css|png|jpe?g|svg|ico|webp|woff2?|map)$/i
/** A token of the site's own. Tokens of the platform are the matter of another check. */
const TOKEN = /eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+/
const [MAX_SCRIPTS, MAX_PATHS, MAX_ENDPOINTS] = [4, 20, 4]

/** Asks for an address as a script of the site does. */
export const fetchAsScript = (stage: Stage, browser: Browser, { address, headers }: Endpoint): Promise<Page> =>
  stage.openHere(browser, address, { headers: { ...ownScript, ...headers } })

/** Returns the pages and scripts that may name addresses. */
async function sourcesOf(stage: Stage, browser: Browser): Promise<string[]> {
  const { userPage, publicPage } = stage.site
  const texts: string[] = []
  for (const page of new Set([userPage, publicPage])) texts.push((await stage.look(browser, page)).text)
  const scripts = [...new Set(texts.flatMap((text) => matchesOf(text, SCRIPT)))]
    .filter((source) => URL.canParse(source, userPage))
    .map((source) => new URL(source, userPage))
    .filter(({ origin }) => origin === new URL(userPage).origin)
  for (const { href } of scripts.slice(0, MAX_SCRIPTS)) texts.push((await stage.look(browser, href)).text)
  return texts
}

/** Returns addresses of the site, other than its page of the user, whose response shows this user to a script. */
export async function endpointsOf(stage: Stage, browser: Browser, account: Account): Promise<Endpoint[]> {
  const { url, userPage, landing } = stage.site
  const sources = await sourcesOf(stage, browser)
  const known = [userPage, landing].map((address) => new URL(address).pathname)
  const paths = new Set(sources.flatMap((text) => matchesOf(text, QUOTED_PATH)))
  const addresses = [...paths]
    .filter((path) => !ASSET.test(path) && !known.includes(path))
    .map((path) => url + path)
    .filter((address) => !isLoginOrLogout(address, ''))
  const tokens = sources.flatMap((text) => TOKEN.exec(text) ?? []).slice(0, 1)
  const ways = [{}, ...tokens.map((token) => ({ authorization: `Bearer ${token}` }))]
  const found: Endpoint[] = []
  for (const address of addresses.slice(0, MAX_PATHS))
    for (const headers of ways) {
      if (found.length >= MAX_ENDPOINTS || found.some((one) => one.address === address)) continue
      const endpoint = { address, headers }
      if (stage.shows(await fetchAsScript(stage, browser, endpoint), account)) found.push(endpoint)
    }
  return found
}
