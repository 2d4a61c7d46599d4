import { cookieHeader, forAll } from '../../test/support/addresses'
import { Browser } from '../../test/support/agent'
import { patiently } from './load'
import { password, readerName, type Setup } from './setup'

/* Readers that are logged in. They come in through the server's own flow, at a process that ends before anything is measured. */

/** How a group of readers got their cookies. */
export type Group = 'nobody' | 'plain' | 'site' | 'filled' | 'anonymous' | 'passport' | OfOthers
/** Readers of other packages. */
type OfOthers = 'openid' | 'openid-redis' | 'keycloak' | 'clerk'

/** Helper cookies of the way in are gone by then. */
const WELL_AFTER_MS = 600_000
const known = '<p>Good morning, Ada Lindqvist</p>'

export async function logIn(setup: Setup, group: Group, count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, n) => n)
  if (group === 'nobody') return ['']
  const { kind, port, enter } = doors(setup)[group]
  const server = await setup.start(kind, { port })
  const origin = `http://localhost:${server.port}`
  const cookies = await forAll(numbers, (n) => patiently(() => comeIn(enter, origin, n, group)))
  await server.stop()
  return cookies
}

/** A new reader's cookies. @throws where the page does not know the reader afterwards */
async function comeIn(enter: Door['enter'], origin: string, n: number, group: Group): Promise<string> {
  const browser = new Browser()
  await enter(browser, origin, readerName(n))
  const { body } = await browser.visit(`${origin}/page`)
  if ((body === known) !== (group !== 'anonymous')) throw new Error(`${group}: the reader is not known as it should be`)
  browser.dropCookies(({ expires = Number.POSITIVE_INFINITY }) => expires < Date.now() + WELL_AFTER_MS)
  return cookieHeader(browser, origin)
}

interface Door {
  readonly kind: string
  readonly port: number
  readonly enter: (browser: Browser, origin: string, username: string) => Promise<unknown>
}

function doors({ sitePort }: Setup): Record<Exclude<Group, 'nobody'>, Door> {
  const site: Door = { kind: 'sso2', port: sitePort, enter: logInAtSite }
  const plain: Door = { kind: 'plain', port: 0, enter: (browser, origin) => browser.visit(`${origin}/log-in`) }
  return {
    plain,
    openid: { ...plain, kind: 'openid' },
    'openid-redis': { ...plain, kind: 'openid-redis' },
    keycloak: { ...plain, kind: 'keycloak' },
    clerk: { ...plain, kind: 'clerk' },
    passport: {
      kind: 'passport',
      port: 0,
      enter: (browser, origin, username) => browser.submit(`${origin}/log-in`, { username, password }),
    },
    site,
    filled: {
      ...site,
      enter: async (browser, origin, username) => {
        await logInAtSite(browser, origin, username)
        await browser.visit(`${origin}/fill`)
      },
    },
    anonymous: { ...site, enter: (browser, origin) => browser.visit(`${origin}/page`) },
  }
}

/** By the form of a site of this package. @throws where the page afterwards is not shown */
async function logInAtSite(browser: Browser, origin: string, username: string): Promise<void> {
  await browser.visit(`${origin}/login`)
  const { status } = await browser.submit(`${origin}/login`, { username, password, return_to: '/page' })
  if (status !== 200) throw new Error(`the login ended with ${status}`)
}
