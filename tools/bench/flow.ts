import { number, show, spread, table } from '../figures'
import { accountsFor, measureFlows, type StepFigures } from './flow-steps'
import type { Options } from './options'
import { openSetup } from './setup'

/* What happens once in a while, and what it costs: a first visit, a login, a six-minute check, a logout, beside passport's own. */

export async function flow(options: Options): Promise<void> {
  const browsers = options.quick ? 20 : 200
  const setup = await openSetup(accountsFor(options.rounds, browsers))
  try {
    const steps = await measureFlows(setup, options.rounds, browsers)
    console.log(
      `Medians (and quartiles) of ${options.rounds} rounds of ${browsers} browsers, one at a time. ${METHOD}\n`,
    )
    console.log(table(steps.map(lineOf)))
  } finally {
    await setup.close()
  }
}

const METHOD =
  'Default limits. Commands as sent, by MONITOR, and waits one after the other, by a slow way to Redis: medians of three browsers.'

function lineOf({ title, cpu, commands, waits }: StepFigures): Record<string, string> {
  return {
    step: title,
    'CPU of the site, ms': show(spread(cpu), 2),
    'Redis commands': number(spread(commands).median, 0),
    'Redis waits': number(spread(waits).median, 0),
  }
}
