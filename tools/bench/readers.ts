import { Client, forEach } from './client'
import { patiently } from './load'
import { password, readerName, type Setup } from './setup'

/*
 * Readers that are logged in. They come in through the server's own flow, at a process that ends before anything is measured.
 */

/** How a group of readers got their cookies. */
export type Group = 'nobody' | 'plain' | 'site' | 'filled' | 'anonymous' | 'passport'

const AT_ONCE = 8
/** Helper cookies of the way in are gone by then. */
const WELL_AFTER_SECONDS = 600
const known = '<p>Good morning, Ada Lindqvist</p>'

/** Cookie headers of a group. */
export async function logIn(setup: Setup, group: Group, count: number): Promise<string[]> {
  const numbers = Array.from({ length: count }, (_, n) => n)
  if (group === 'nobody') return ['']
  const { kind, port, enter } = doors(setup)[group]
  const server = await setup.start(kind, { port })
  const origin = `http://localhost:${server.port}`
  const cookies = await forEach(numbers, AT_ONCE, (n) => patiently(() => comeIn(enter, origin, n, group)))
  await server.stop()
  return cookies
}

/** A new reader's cookies. @throws where the page does not know the reader afterwards */
async function comeIn(enter: Door['enter'], origin: string, n: number, group: Group): Promise<string> {
  const client = new Client()
  await enter(client, origin, readerName(n))
  const { body } = await client.visit(`${origin}/page`)
  if ((body === known) !== (group !== 'anonymous')) throw new Error(`${group}: the reader is not known as it should be`)
  return client.cookieHeader(origin, WELL_AFTER_SECONDS)
}

interface Door {
  readonly kind: string
  readonly port: number
  readonly enter: (client: Client, origin: string, username: string) => Promise<unknown>
}

function doors({ sitePort }: Setup): Record<Exclude<Group, 'nobody'>, Door> {
  const site: Door = { kind: 'sso2', port: sitePort, enter: logInAtSite }
  return {
    plain: { kind: 'plain', port: 0, enter: (client, origin) => client.visit(`${origin}/log-in`) },
    passport: {
      kind: 'passport',
      port: 0,
      enter: (client, origin, username) => client.visit(`${origin}/log-in`, { username, password }),
    },
    site,
    filled: {
      ...site,
      enter: async (client, origin, username) => {
        await logInAtSite(client, origin, username)
        await client.visit(`${origin}/fill`)
      },
    },
    anonymous: { ...site, enter: (client, origin) => client.visit(`${origin}/page`) },
  }
}

/** By the form of a site of this package. @throws where the page afterwards is not shown */
export async function logInAtSite(client: Client, origin: string, username: string): Promise<void> {
  await client.visit(`${origin}/login`)
  const { status } = await client.visit(`${origin}/login`, { username, password, return_to: '/page' })
  if (status !== 200) throw new Error(`the login ended with ${status}`)
}
