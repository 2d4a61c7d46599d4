import { actions, ask, navigate, states } from './actions'
import type { Ran } from './explore'
import type { PlatformCall } from './platform-gate'
import { type Broken, judge } from './promises'
import { doings, type Scenario } from './scenario'
import { type Choose, Scheduler } from './scheduler'
import type { Setup } from './setup'
import { type Seen, World } from './world'

export interface Execution extends Ran {
  readonly broken: readonly Broken[]
}

/** Breakers have closed again, in milliseconds. */
const HEALED_MS = 6000
/** After this a login that the platform has ended is noticed, in milliseconds. */
const RECHECKED_MS = 420_000

/** What browsers see when all is over. */
export interface Aftermath {
  readonly browser: string
  /** A script's request: shows what is stored here. */
  readonly direct: Seen
  /** A navigation, to the other process, walked through Identify to its end. */
  readonly walked: Seen
  /** The same, when every session is stale. Only where something was broken, or has ended at the platform. */
  readonly later: Seen | undefined
}

/** Everything that a promise may be judged by. */
export interface History {
  readonly scenario: Scenario
  readonly world: Pick<World, 'seen' | 'calls'>
  readonly hasFault: boolean
  /** Mark after which the actors acted, and mark when they were done. */
  readonly acted: readonly [from: number, to: number]
  /** What a request has put into the session that its browser began with. */
  readonly landed: ReadonlySet<string>
  readonly aftermath: readonly Aftermath[]
  /** Was anybody logged in at the platform when all was over? */
  readonly isAnybodyIn: boolean
}

/** Runs a scenario once, from a clean state, under somebody's choices. */
export async function execute(setup: Setup, scenario: Scenario, choose: Choose): Promise<Execution> {
  const calls: PlatformCall[] = []
  const site = await setup.begin(calls, scenario)
  const names = scenario.parts.map(({ acts }) => acts.join('+'))
  const scheduler = new Scheduler(names, site.begins)
  const { steps } = scheduler
  const world = new World(setup, site, calls, scheduler)
  try {
    const history = await scheduler.freely(() => act(world, scenario, choose))
    if (history.hasFault) await setup.retire()
    return { steps, broken: judge(history) }
  } catch (error) {
    await setup.retire()
    const text = error instanceof Error ? String(error.stack) : String(error)
    return { steps, broken: [{ promise: 'I1 serves', text }] }
  }
}

async function act(world: World, scenario: Scenario, choose: Choose): Promise<History> {
  const { scheduler, setup } = world
  await states[scenario.state](world)
  const landed = new Set<string>()
  const kept = doings(scenario).includes('save') ? await dataKeys(world, scenario.isOwnSession) : []
  for (const client of setup.clients) client.isReadOnly = scenario.isReadOnly
  scheduler.now += 1000
  const from = scheduler.mark()
  const acts = scenario.parts.map(({ tab, acts: names }, index) => async () => {
    for (const name of names) await actions[name](world, tab, `item${index}`)
  })
  await scheduler.play(acts, choose, async () => {
    for (const item of kept.length > 0 ? await itemsIn(world, kept) : []) landed.add(item)
  })
  const to = scheduler.mark()
  for (const client of setup.clients) client.isReadOnly = false
  const hasFault = scenario.isReadOnly || scheduler.steps.some(({ mode }) => mode !== 'ok')
  const isAnybodyIn = setup.emulator.sessions().some(({ status }) => status === 'loggedin')
  const aftermath = await lookAround(world, scenario, hasFault)
  return { scenario, world, hasFault, acted: [from, to], landed, aftermath, isAnybodyIn }
}

/** What every browser sees when all is over, and where it matters once more when every session is stale. */
async function lookAround(world: World, scenario: Scenario, hasFault: boolean): Promise<Aftermath[]> {
  const { scheduler } = world
  const all = ['b1', ...scenario.parts.map(({ tab }) => tab.browser), /two/i.test(scenario.state) ? 'b2' : 'b1']
  const aftermath: Aftermath[] = []
  if (hasFault) scheduler.now += HEALED_MS
  for (const browser of new Set(all)) aftermath.push(await look(world, browser))
  if (!hasFault && !/ended/i.test(scenario.state) && !doings(scenario).includes('terminate')) return aftermath
  scheduler.now += RECHECKED_MS
  const later: Aftermath[] = []
  for (const one of aftermath)
    later.push({ ...one, later: await navigate(world, { browser: one.browser, process: 0 }, '/') })
  return later
}

async function look(world: World, browser: string): Promise<Aftermath> {
  const direct = await ask(world, { browser, process: 1 }, '/plain')
  const walked = await navigate(world, { browser, process: 0 }, '/')
  return { browser, direct, walked, later: undefined }
}

/** Keys of the site's own data. */
async function dataKeys({ setup: { redis }, site: { prefix } }: World, isOwn: boolean): Promise<string[]> {
  return redis.keys(`${prefix}${isOwn ? 'own:' : 'sess:'}*`)
}

async function itemsIn({ setup: { redis } }: World, keys: readonly string[]): Promise<string[]> {
  const texts = await redis.mget(...keys)
  return texts.flatMap((text) => [...(text ?? '').matchAll(/item\d/g)].map(([item]) => item))
}
