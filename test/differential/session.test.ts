/** `req.session` here answers as express-session does, but for what is different on purpose. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { differences } from './differences'
import { deviations, expected, type Framework, frameworks, idle, play } from './run'
import type { Scenario, Seen, Visitor } from './scenario'
import { scenarios } from './scenarios'
import { startWorld, type World } from './stacks'

let world: World
/** What express-session calls deprecated; it is not printed when somebody listens. */
const deprecated = new Set<string>()
const hear = ({ message }: Error) => void deprecated.add(message)
const program: NodeJS.EventEmitter = process
beforeAll(async () => {
  program.on('deprecation', hear)
  world = await startWorld()
})
afterAll(async () => {
  program.off('deprecation', hear)
  await world.close()
})

const plainAnswers = new Map<string, Promise<Seen[]>>()

/** Plain express-session is asked once for all of ours. */
function plain(scenario: Scenario, framework: Framework, visitor: Visitor): Promise<Seen[]> {
  const key = `${scenario.name}|${framework}|${visitor}`
  const known = plainAnswers.get(key) ?? play(scenario, stacksFor(scenario).plain, framework, visitor)
  plainAnswers.set(key, known)
  return known
}

const stacksFor = ({ hasOutage }: Scenario) => (hasOutage ? world.fragile : world.stacks)

type Way = readonly [stack: 'memory' | 'redis' | 'full', visitor: Visitor, framework: Framework]

/** `sso.session` alone knows no login, so that its visitors are all strangers. Express 4 and 5 are both tried with the whole package. */
function waysOf({ visitors = ['stranger', 'reader'], stacks = ['memory', 'redis', 'full'] }: Scenario): Way[] {
  const every = Object.keys(frameworks) as Framework[]
  return stacks.flatMap((stack) => {
    if (stack === 'full')
      return visitors.flatMap((visitor) => every.map((framework): Way => [stack, visitor, framework]))
    return visitors.includes('stranger') ? [[stack, 'stranger', 'Express 5'] as const] : []
  })
}

describe.each(scenarios)('[S19, S20] $name', (scenario) => {
  test.each(waysOf(scenario))('on %s, as %s, %s', async (name, visitor, framework) => {
    const stack = stacksFor(scenario)[name]
    const answers = await plain(scenario, framework, visitor)
    expect(answers.filter(({ status }) => status === 0)).toEqual([])
    expect(idle(scenario, answers, stack, visitor)).toEqual([])
    expect(await play(scenario, stack, framework, visitor)).toEqual(expected(scenario, answers, stack, visitor))
  })
})

test('express-session calls nothing deprecated but cookies that a parser has taken out of the header', () => {
  expect([...deprecated].filter((message) => message !== 'cookie should be available in req.headers.cookie')).toEqual(
    [],
  )
})

test('there are at least 80 scenarios, each with a name of its own', () => {
  expect(new Set(scenarios.map(({ name }) => name)).size).toBe(scenarios.length)
  expect(scenarios.length).toBeGreaterThanOrEqual(80)
})

test('every difference is shown by a scenario, and no deviation is idle', () => {
  const played = scenarios.flatMap((scenario) =>
    waysOf(scenario).flatMap(([stack, visitor]) => deviations(scenario, stack, visitor)),
  )
  const rows = new Set(played.map(({ row }) => row))
  expect(differences.filter((row) => !rows.has(row))).toEqual([])
  expect(scenarios.flatMap(({ differs = [] }) => differs).filter((one) => !played.includes(one))).toEqual([])
})

test('every difference stands in the documentation, and no other does', () => {
  const page = readFileSync(path.join(__dirname, '..', '..', 'docs', 'sessions.md'), 'utf8')
  const rows = [...page.matchAll(/^\| \*\*(.+?)\*\* +\|/gm)].map(([, name]) => name)
  expect(rows).toEqual([...differences])
})
