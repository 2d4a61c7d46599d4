import { setTimeout as sleep } from 'node:timers/promises'
import { ada, grace, type PageView } from '../flows/network'
import { document } from '../safety/session-support'
import type { Browser } from '../support/agent'
import { type Scene, startScene } from './scene'

/** What one browser did, or saw. Times are of the machine, in milliseconds; `clock` is the scene's, in seconds. */
export interface Entry {
  readonly agent: number
  readonly what: 'page' | 'login' | 'logout' | 'terminate'
  readonly begin: number
  readonly end: number
  readonly clock: number
  /** HTTP status; 0 where the connection failed. */
  readonly status: number
  /** Who the page was for, or who logged in. */
  readonly user?: string | undefined
}

/** A random number from 0 to 1 that a seed repeats. */
export type Dice = () => number

export function dice(seed: number): Dice {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = <T>(roll: Dice, list: readonly T[]): T => list[Math.floor(roll() * list.length)] as T
const accounts = [ada, grace]

/** One browser, and everything that it has seen. */
export class Agent {
  readonly browser: Browser
  /** The last landing address that it came by: for thieves. */
  landing: string | undefined
  constructor(
    readonly scene: Scene,
    readonly number: number,
    readonly history: Entry[],
  ) {
    this.browser = scene.browser()
  }

  /** Opens a page with all its redirects, or by a script. */
  async page(path = '/news', isScript = false): Promise<PageView | undefined> {
    return this.#note('page', async () => {
      const url = `${this.scene.url}${path}`
      if (isScript) return this.browser.fetchJson(url)
      const visit = await this.browser.visit(url)
      const landed = visit.trail.find((hop) => hop.url.includes('/sso2/landing'))
      if (landed) this.landing = landed.url
      return { status: visit.status, json: parse(visit.body) }
    })
  }
  async login(account: typeof ada): Promise<void> {
    await this.#note(
      'login',
      () => this.browser.fetchJson(`${this.scene.url}/login`, { json: account }),
      account.username,
    )
  }
  async logout(): Promise<void> {
    await this.#note('logout', () => this.browser.fetchJson(`${this.scene.url}/logout`, { method: 'POST' }))
  }
  /** Uses somebody else's landing address. */
  async steal(landing: string): Promise<void> {
    await this.browser.fetchJson(landing, { headers: document }).catch(() => {})
  }

  async #note(
    what: Entry['what'],
    act: () => Promise<{ status: number; json: PageView | undefined }>,
    user?: string,
  ): Promise<PageView | undefined> {
    const begin = performance.now()
    const clock = this.scene.emulator.clock.now() / 1000
    const { status, json } = await act().catch(() => ({ status: 0, json: undefined }))
    const seen = what === 'page' && json?.status === 'loggedin' ? json.username : undefined
    const end = performance.now()
    this.history.push({ agent: this.number, what, begin, end, clock, status, user: user ?? seen })
    return json
  }
}

function parse(body: string): PageView | undefined {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** What a browser does next. */
async function step(agent: Agent, others: readonly Agent[], roll: Dice): Promise<void> {
  const chance = roll()
  if (chance < 0.35) await agent.page()
  else if (chance < 0.45) await agent.page('/news', true)
  else if (chance < 0.55) await Promise.all([agent.page('/one'), agent.page('/two', true), agent.page('/three')])
  else if (chance < 0.72) await agent.login(pick(roll, accounts))
  else if (chance < 0.77) await Promise.all([agent.login(ada), agent.page()])
  else if (chance < 0.9) await agent.logout()
  else if (chance < 0.94) await Promise.all([agent.logout(), agent.page('/news', true)])
  else if (chance < 0.97 && agent.landing) await agent.steal(agent.landing)
  else {
    const { landing } = pick(roll, others)
    if (landing && others[0] === agent) await agent.steal(landing)
    else await agent.page()
  }
}

type Fault = (scene: Scene) => Promise<void> | void
const answers = (fault: object, operations: readonly string[]): Fault => {
  return ({ emulator }) => {
    for (const operation of operations) emulator.faults.add({ operation, ...fault } as never)
  }
}
const backChannel = ['authenticate', 'sessionstatus', 'logout']
const faults: readonly Fault[] = [
  ({ ssoFront }) => ssoFront.down(),
  ({ ssoFront }) => ssoFront.stall(),
  ({ ssoFront }) => ssoFront.delay(150),
  answers({ kind: 'status', code: 503 }, backChannel),
  answers({ kind: 'drop_after_commit' }, backChannel),
  answers({ kind: 'wrong_session' }, backChannel),
  answers({ kind: 'error', code: 'invalid_token' }, backChannel),
  answers({ kind: 'down' }, ['token']),
  answers({ kind: 'status', code: 500 }, ['me']),
  ({ storeFront }) => storeFront.down(),
  ({ storeFront }) => storeFront.stall(),
  ({ storeFront }) => storeFront.delay(120),
  async ({ redis }) => void (await redis.config('SET', 'maxmemory', '1')),
  (scene) => scene.restart(),
  ({ emulator }) => emulator.clock.advance(200),
  ({ emulator }) => emulator.clock.advance(400),
  ({ emulator }) => emulator.clock.advance(1300),
]

async function mendAll({ emulator, ssoFront, storeFront, redis }: Scene): Promise<void> {
  emulator.faults.clear()
  ssoFront.heal()
  storeFront.heal()
  await Promise.all([ssoFront.up(), storeFront.up(), redis.config('SET', 'maxmemory', '0')])
}

/** A fault now and then, and SSO sessions that end elsewhere. */
async function nemesis(scene: Scene, roll: Dice, history: Entry[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(100 + roll() * 300)
    await pick(roll, faults)(scene)
    await sleep(100 + roll() * 500)
    await mendAll(scene)
    if (roll() < 0.2) endElsewhere(scene, history)
  }
}

/** All SSO sessions end, as after a change of passwords. */
function endElsewhere({ emulator }: Scene, history: Entry[]): void {
  for (const { sid, status } of emulator.sessions()) if (status === 'loggedin') emulator.terminate(sid)
  const now = performance.now()
  history.push({ agent: -1, what: 'terminate', begin: now, end: now, clock: emulator.clock.now() / 1000, status: 0 })
}

/** What happened while browsers did this and that, and everything broke now and then. */
export interface Played {
  readonly history: readonly Entry[]
  readonly authenticates: number
  /** What each browser saw at the end, when all was well again. */
  readonly last: readonly (PageView | undefined)[]
}

const AGENTS = 6

/** Plays one history. The last browser steals landing addresses, and never logs in. */
export async function play(seed: number, milliseconds: number): Promise<Played> {
  const scene = await startScene({ ownRedis: true, processes: 2 })
  const history: Entry[] = []
  try {
    const agents = Array.from({ length: AGENTS }, (_, number) => new Agent(scene, number, history))
    const thief = new Agent(scene, AGENTS, history)
    const end = performance.now() + milliseconds
    const isOver = () => performance.now() > end
    await Promise.all([
      ...agents.map(async (agent) => {
        const roll = dice(seed * 1000 + agent.number)
        while (!isOver()) await step(agent, agents, roll)
      }),
      (async () => {
        const roll = dice(seed * 1000 + AGENTS)
        while (!isOver()) {
          await thief.page()
          const { landing } = pick(roll, agents)
          if (landing) await thief.steal(landing)
        }
      })(),
      nemesis(scene, dice(seed), history, isOver),
    ])
    await mendAll(scene)
    await sleep(6000) // one window of the breakers
    scene.emulator.clock.advance(400)
    const last = []
    for (const agent of agents) {
      await agent.page()
      last.push(await agent.page())
    }
    return { history, authenticates: scene.count('authenticate'), last }
  } finally {
    await scene.close()
  }
}
