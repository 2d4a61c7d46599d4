import { type Execution, execute } from './execution'
import { explore, follow, type Limits, nameOf, readChoices } from './explore'
import type { Broken } from './promises'
import { readScenario, type Scenario } from './scenario'
import type { Choose } from './scheduler'
import type { Setup } from './setup'

/** A broken promise with the first schedule that breaks it: paste it behind `--replay`. */
export interface Violation extends Broken {
  readonly schedule: string
}

/** Keeps the first schedule for each way of breaking a promise. */
export class Findings {
  readonly #found = new Map<string, Violation>()
  constructor(readonly scenario: Scenario) {}
  readonly take = ({ broken, steps }: Execution): void => {
    for (const { promise, text } of broken) {
      const key = `${promise}: ${text}`
      const schedule = `${this.scenario.name} ${nameOf(steps)}`
      if (!this.#found.has(key)) this.#found.set(key, { promise, text, schedule })
    }
  }
  get all(): Violation[] {
    return [...this.#found.values()]
  }
}

export async function tryOrders(setup: Setup, scenario: Scenario, limits: Omit<Limits, 'actors'>) {
  const findings = new Findings(scenario)
  const run = (choose: Choose) => execute(setup, scenario, choose)
  const explored = await explore(run, { actors: scenario.parts.length, ...limits }, findings.take)
  return { ...explored, violations: findings.all }
}

/** Follows one schedule: the name of a scenario, and whose step comes when. */
export async function runSchedule(setup: Setup, schedule: string): Promise<Execution & { scenario: Scenario }> {
  const [name = '', choices = ''] = schedule.split(' ')
  const scenario = readScenario(name)
  const order = scenario.parts.map((_part, index) => index)
  return { scenario, ...(await execute(setup, scenario, follow({ prefix: readChoices(choices), order }))) }
}
