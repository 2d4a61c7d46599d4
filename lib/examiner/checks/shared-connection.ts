/** The check `session/shared-connection`: a proxy sends the requests of many users over one connection. */
import type { Browser, Hop } from '../browser'
import { type Check, failed, need, notApplicable, passed } from '../check'
import { oneConnection } from '../request'
import type { Stage } from '../stage'

/** Cookies with shorter values may be the same for many browsers. */
const MIN_LENGTH = 16

/** Logs a user in, and then loads pages as another browser over the same connection. Nothing of the user may be in the responses. */
export const sharedConnection: Check = {
  name: 'session/shared-connection',
  run: async (stage) => {
    const usual = cookiesIn(await visitPages(stage, stage.browser()))
    const agent = oneConnection(new URL(stage.site.url))
    try {
      const [one, other] = [stage.browser(), stage.browser()]
      one.agent = agent
      other.agent = agent
      const { name, username, accountId } = await stage.login(one)
      const given = cookiesIn(stage.hops.filter(({ browser, url }) => browser === one.name && isOfSite(stage, url)))
      const own = new Map([...given].filter(([value]) => !usual.has(value)))
      const [first, ...later] = await visitPages(stage, other)
      if (!first?.isReused) return notApplicable('the site closes the connection after each response')
      const hops = [first, ...later]
      need(!hops.some(({ status }) => status === 0), 'the site does not respond')
      for (const hop of hops) {
        const problem = problemOf(hop, own, [name, username, accountId])
        if (problem) return failed(`${hop.method} ${hop.url.pathname} of a new browser ${problem}`)
      }
      return passed()
    } finally {
      agent.destroy()
    }
  },
}

/** Loads pages with every redirect. Returns the requests to the site. */
async function visitPages(stage: Stage, browser: Browser): Promise<Hop[]> {
  const { publicPage, loginPage, userPage } = stage.site
  const hops: Hop[] = []
  for (const page of new Set([publicPage, loginPage, userPage])) hops.push(...(await stage.visit(browser, page)).hops)
  return hops.filter(({ url }) => isOfSite(stage, url))
}

const isOfSite = ({ site }: Stage, { origin }: URL) => origin === new URL(site.url).origin

/** Returns the names of the long cookies that responses set, by their values. */
const cookiesIn = (hops: readonly Hop[]): Map<string, string> =>
  new Map(
    hops
      .flatMap(({ setCookie }) => setCookie)
      .map((line): [string, string] => {
        const [name, value] = [line.replace(/=.*/s, ''), line.replace(/^[^=]*=|;.*/gs, '')]
        return [value.trim(), name]
      })
      .filter(([value]) => value.length >= MIN_LENGTH),
  )

/** Says what a response has of the user before. `own` are the user's cookies by their values. */
function problemOf(hop: Hop, own: ReadonlyMap<string, string>, words: readonly string[]): string | undefined {
  const before = 'the user who logged in before over the same connection'
  const again = new Set([...cookiesIn([hop])].filter(([value]) => own.has(value)).map(([, name]) => name))
  if (again.size > 0) return `gets Set-Cookie with ${[...again].join(', ')} of ${before}`
  const found = [...words, ...own.keys()].find((text) => `${hop.text} ${hop.location}`.includes(text))
  if (found === undefined) return undefined
  return `shows ${own.has(found) ? `the value of the cookie ${own.get(found)}` : found}, which is of ${before}`
}
