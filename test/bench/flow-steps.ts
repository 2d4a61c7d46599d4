import type { Redis } from 'ioredis'
import { Client } from './client'
import type { Server } from './machine'
import { between, countsOf } from './redis-counts'
import { password, readerName, type Stage } from './stage'

/*
 * Flows in steps: all browsers take the first step, one after the other, then all take the second. What a step costs is what the
 * server and Redis did meanwhile, divided by the number of browsers. The hops between, at the platform, are not the site's.
 */

/** Figures of one step, round by round: milliseconds of the site's CPU time, commands and round trips. */
export interface StepFigures {
  readonly title: string
  readonly cpu: number[]
  readonly commands: number[]
  readonly trips: number[]
}

/** One browser on its way. */
interface Traveller {
  readonly client: Client
  readonly username: string
  /** Where the last redirect led. */
  next: string
}

interface Step {
  /** `undefined`: not the site's, and not measured. */
  readonly title?: string
  /** Done once, before the browsers take the step. */
  readonly before?: () => Promise<void>
  take(traveller: Traveller): Promise<void>
}

const CHECK_SECONDS = 361

/** All flows, in turns. */
export async function measureFlows(
  stage: Stage,
  hasPeers: boolean,
  rounds: number,
  browsers: number,
): Promise<StepFigures[]> {
  const flows: { server: Server; steps: readonly Step[] }[] = []
  const add = async (kind: string, port: number, stepsOf: (origin: string, server: Server) => Step[]) => {
    const server = await stage.start(kind, { port })
    flows.push({ server, steps: stepsOf(`http://localhost:${server.port}`, server) })
  }
  await add('sso2', stage.sitePort, (origin, server) => siteSteps(stage, origin, server))
  if (hasPeers) await add('oidc-redis', stage.peerPort, openIdSteps)
  if (hasPeers) await add('passport', 0, passportSteps)
  const figures = new Map<string, StepFigures>()
  for (let round = -1; round < rounds; round += 1)
    for (const { server, steps } of flows)
      await play(server, stage.redis, steps, browsers, round < 0 ? new Map() : figures)
  await Promise.all(flows.map(({ server }) => server.stop()))
  return [...figures.values()]
}

async function play(
  server: Server,
  redis: Redis,
  steps: readonly Step[],
  browsers: number,
  figures: Map<string, StepFigures>,
) {
  const travellers = Array.from({ length: browsers }, (_, n) => ({
    client: new Client(),
    username: readerName(n),
    next: '',
  }))
  for (const { title, before, take } of steps) {
    await before?.()
    const [counts, used] = [await countsOf([redis]), await server.usage()]
    for (const traveller of travellers) await take(traveller)
    const cpu = (await server.usage()).cpu - used.cpu
    const { commands, trips } = between(counts, await countsOf([redis]))
    if (title === undefined) continue
    const found = figures.get(title) ?? { title, cpu: [], commands: [], trips: [] }
    figures.set(title, found)
    found.cpu.push(cpu / 1000 / browsers)
    found.commands.push(commands / browsers)
    found.trips.push(trips / browsers)
  }
}

/** Goes where the browser was sent. */
const goOn = async (traveller: Traveller) => go(traveller, traveller.next, 302, 303)

/** One request, which must be answered by one of these. */
async function go(traveller: Traveller, address: string, ...expected: number[]): Promise<void> {
  answered(traveller, await traveller.client.step(address), expected)
}
async function post(traveller: Traveller, address: string, fields: Record<string, string>): Promise<void> {
  answered(traveller, await traveller.client.step(address, fields), [303])
}
function answered(
  traveller: Traveller,
  { status, location = '' }: { status: number; location: string | undefined },
  expected: number[],
): void {
  if (!expected.includes(status)) throw new Error(`a step was answered by ${status}`)
  traveller.next = location
}

function siteSteps({ emulator }: Stage, origin: string, server: Server): Step[] {
  const page = `${origin}/page`
  const later = async () => {
    emulator.clock.advance(CHECK_SECONDS)
    await server.advance(CHECK_SECONDS)
  }
  const logIn = (one: Traveller) =>
    post(one, `${origin}/login`, { username: one.username, password, return_to: '/page' })
  return [
    { title: 'first visit: to Identify', take: (one) => go(one, page, 302, 303) },
    { take: goOn },
    { title: 'first visit: landing', take: goOn },
    { title: 'the page itself', take: (one) => go(one, page, 200) },
    { title: 'login form', take: (one) => go(one, `${origin}/login`, 200) },
    { title: 'login', take: logIn },
    { title: 'six-minute check', before: later, take: (one) => go(one, page, 200) },
    { title: 'logout', take: (one) => post(one, `${origin}/logout`, { return_to: '/page' }) },
  ]
}

function openIdSteps(origin: string): Step[] {
  return [
    { title: 'express-openid-connect: to the provider', take: (one) => go(one, `${origin}/login`, 302) },
    { take: goOn },
    { title: 'express-openid-connect: callback', take: goOn },
    { title: 'express-openid-connect: logout', take: (one) => go(one, `${origin}/logout`, 302) },
  ]
}

function passportSteps(origin: string): Step[] {
  return [
    {
      title: 'passport-local: login',
      take: (one) => post(one, `${origin}/log-in`, { username: one.username, password }),
    },
    { title: 'passport: logout', take: (one) => post(one, `${origin}/log-out`, {}) },
  ]
}
