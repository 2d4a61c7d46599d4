import type { Browser } from '../support/agent'
import { document } from '../support/landing'
import { hop } from '../support/pausable-setup'
import { ada, eventually, logInAtLast, type PageView, present, view } from '../support/setup'
import { failureOf, timed } from '../support/wait'
import { type Scene, type SceneOptions, startScene } from './matrix-scene'

/** Who meets the fault. */
const columns = ['new', 'anon', 'fresh', 'stale', 'login', 'logout', 'landing'] as const
type Column = (typeof columns)[number]

/** One visitor, ready for the fault. */
export interface Actor {
  readonly browser: Browser
  /** Where Identify sent a browser that is logged in at the SSO system: the landing page with `t` and `r`. */
  readonly landing: string
  /** The session's cookie from before the fault. */
  readonly session?: string | undefined
}

/** What one visitor must meet. */
export type Cell = (scene: Scene, actor: Actor) => Promise<void>

/** One fault, and what it means for each visitor. */
export interface Row {
  readonly row: string
  readonly name: string
  readonly options?: SceneOptions
  fault?(scene: Scene): Promise<void> | void
  mend?(scene: Scene): Promise<void> | void
  readonly cells: Readonly<Partial<Record<Column, Cell>>>
  /** Where another end than the usual is right. */
  readonly healed?: Readonly<Partial<Record<Column, Cell>>>
}

/** One request for a page, as a navigation; no redirect is followed. */
export async function page(scene: Scene, { browser }: Actor, path = '/news') {
  const [answer, ms] = await timed(() => browser.fetchJson(`${scene.url}${path}`, { headers: document }))
  const { status, headers, json } = answer
  return { status, location: headers.location, view: json as PageView | undefined, ms }
}

/** Opens a page like a person, redirects and all. */
export const visit = async (scene: Scene, { browser }: Actor): Promise<PageView> =>
  view(await browser.visit(`${scene.url}/news`))

const start: Readonly<Record<Column, (scene: Scene, browser: Browser) => Promise<unknown>>> = {
  new: async () => {},
  anon: visited,
  fresh: begin,
  stale: async (scene, browser) => {
    await begin(scene, browser)
    scene.emulator.clock.advance(361)
  },
  login: visited,
  logout: begin,
  landing: async (scene, browser) => {
    await begin(scene, browser)
    browser.dropCookies(({ name, host }) => host === 'morning.localhost' && name.startsWith('sso2.'))
  },
}

/** What is not there before the fault, on a machine too busy for it, would be missed after it. */
function visited(scene: Scene, browser: Browser): Promise<void> {
  return becomes('anon', scene, { browser, landing: '' })
}

async function begin(scene: Scene, browser: Browser): Promise<void> {
  await visited(scene, browser)
  await logInAtLast(browser, scene)
  await browser.visit(`${scene.url}/keep`)
}

async function prepare(scene: Scene, column: Column): Promise<Actor> {
  const browser = scene.browser()
  await start[column](scene, browser)
  const session = browser.cookie('sso2.sid')
  return { browser, session, landing: column === 'landing' ? await landingOf(scene, browser) : '' }
}

/** Goes through Identify, and stops before the landing page. */
export const landingOf = async (scene: Scene, browser: Browser): Promise<string> =>
  hop(browser, await hop(browser, `${scene.url}/news`))

/** How a fault ends for each visitor: as if it had not been. */
export const usual: Readonly<Record<Column, Cell>> = {
  new: (scene) => becomes('anon', scene, { browser: scene.browser(), landing: '' }),
  anon: (scene, actor) => becomes('anon', scene, actor),
  fresh: (scene, actor) => becomes('loggedin', scene, actor),
  stale: (scene, actor) => becomes('loggedin', scene, actor),
  login: async (scene, actor) => {
    let last = ''
    const isIn = async () => {
      const { status, json } = await post(scene, actor)
      last = `${status} ${json?.error ?? ''}`
      return status === 200
    }
    await eventually(isIn, 15).catch((cause) => {
      throw new Error(`a login is still answered by ${last}`, { cause })
    })
    expect(await visit(scene, actor)).toMatchObject({ status: 'loggedin', username: 'ada' })
  },
  logout: async (scene, actor) => {
    await eventually(async () => {
      const { status } = await visit(scene, actor)
      expect(status).not.toBe('loggedin')
      return status === 'anon'
    }, 9)
  },
  landing: (scene, actor) => becomes('loggedin', scene, actor),
}

/** Within one breaker's window after the end of the fault, with some patience for a busy machine. Promise I9. */
async function becomes(status: PageView['status'], scene: Scene, actor: Actor): Promise<void> {
  const seen: string[] = []
  const isThere = async () => {
    const page = await visit(scene, actor)
    const words = `${page.status} ${page.degraded ?? ''}`.trim()
    if (seen.at(-1) !== words) seen.push(words)
    return words === status
  }
  await eventually(isThere, 9).catch((cause) => {
    throw new Error(`not ${status}: one after the other the pages said ${seen.join(', ')}`, { cause })
  })
}

/** Sends the login form by script. */
export async function post(scene: Scene, { browser }: Actor) {
  const [answer, ms] = await timed(() => browser.fetchJson(`${scene.url}/login`, { json: ada }))
  return { ...answer, ms }
}

/** Makes a test of each cell of some rows. */
export function testRows(rows: readonly Row[]): void {
  const cells = rows.flatMap((row) =>
    columns.filter((column) => row.cells[column]).map((column) => ({ ...row, column })),
  )
  test.concurrent.each(cells)('row $row: $name: $column', async ({ column, ...row }) => runCell(row, column))
}

/** A visitor, the fault, what must happen, the end of the fault, and all is well again. */
async function playCell(scene: Scene, row: Row, column: Column): Promise<void> {
  const actor = await prepare(scene, column)
  await row.fault?.(scene)
  await present(row.cells[column])(scene, actor)
  await row.mend?.(scene)
  await (row.healed?.[column] ?? usual[column])(scene, actor)
  await expectPromises(scene)
}

/** Runs one cell. What fails while Redis or this process was late met a second fault, and is tried again, twice at most. */
async function runCell(row: Row, column: Column, tries = 3): Promise<void> {
  const scene = await startScene(row.options)
  const failure = await failureOf(scene.redis, () => playCell(scene, row, column))
  await scene.close()
  if (failure?.isOfMachine && tries > 1) return runCell(row, column, tries - 1)
  if (failure) throw failure.cause
}

/** I1: no page fails. I3: no user is shown as another. I8: nothing secret in answers or in the store. */
async function expectPromises(scene: Scene): Promise<void> {
  const failed = scene.sent.filter(({ status, url }) => status >= 500 && !url.startsWith('/login'))
  expect(failed).toEqual([])
  const names = scene.sent
    .map(({ body }) => /"username":"([^"]*)"/.exec(body)?.[1])
    .filter((name) => name !== undefined)
  expect(names.filter((name) => name !== 'ada')).toEqual([])
  const keys = await scene.redis.keys(`${scene.prefix}*`)
  const values = await Promise.all(keys.map((key) => scene.redis.get(key).catch(() => '')))
  const sids = scene.emulator.sessions().map(({ sid }) => sid)
  for (const text of [...keys, ...values, ...scene.sent.flatMap(({ body, headers }) => [body, headers])])
    for (const secret of [ada.password, ...sids]) expect(text ?? '').not.toContain(secret)
}
