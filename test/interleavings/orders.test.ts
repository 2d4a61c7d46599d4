import { execute } from './execution'
import { follow, nameOf } from './explore'
import { readScenario } from './scenario'
import { executionsOf, faulty, pairs } from './scenarios'
import { openSetup, type Setup } from './setup'
import { runSchedule, tryOrders } from './try'

/*
 * A part of what `npm run orders` tries, always the same: of each pair the orders with the fewest preemptions. A test
 * that fails says with which schedule; `npm run orders -- --replay '…'` shows it step by step.
 */
const FAULTY_EXECUTIONS = 16

let setup: Setup
const warn = console.warn

beforeAll(async () => {
  console.warn = () => {} // faults make the site say so
  setup = await openSetup()
})
afterAll(async () => {
  await setup.close()
  console.warn = warn
})

async function violations(name: string, maxExecutions: number, faultsUpTo: number): Promise<string[]> {
  const tried = await tryOrders(setup, readScenario(name), { maxExecutions, maxPreemptions: 4, faultsUpTo })
  expect(tried.astray).toBe(0) // more: what steps touch is wrongly told
  return tried.violations.map(({ promise, text, schedule }) => `${promise}: ${text}; --replay '${schedule}'`)
}

test.each(pairs)('[L13, S6, S7, S16, S17, S18, S20] %s keeps all promises in every order', async (name) => {
  expect(await violations(name, executionsOf(name), -1)).toEqual([])
})

test.each(faulty)('[S6, S14, S17] %s keeps all promises whatever fails', async (name) => {
  expect(await violations(name, FAULTY_EXECUTIONS, 0)).toEqual([])
})

/** Orders that once broke a promise, and that the tests above do not reach. */
const broken = [
  'basketLandings:login|login|login A15BC11B11',
  'basketForgotten:page|login A4B14A11',
  'loggedInLandings:logoutAll|landing1|expiry CB2A4BB-B5',
  'loggedInLandings:login|login|login A7A~C3AC10B12',
]

test.each(broken)('[S6] %s keeps all promises', async (schedule) => {
  expect((await runSchedule(setup, schedule)).broken).toEqual([])
})

test('a schedule runs the same way each time', async () => {
  const scenario = readScenario('basket:login|save')
  const choose = () => follow({ prefix: [], order: [1, 0] })
  const [one, two] = [await execute(setup, scenario, choose()), await execute(setup, scenario, choose())]
  expect(one.steps.map(({ label }) => label)).toEqual(two.steps.map(({ label }) => label))
  expect(nameOf(one.steps)).toBe(nameOf(two.steps))
})
