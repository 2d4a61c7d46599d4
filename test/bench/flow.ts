import { number, show, spread, table } from '../support/figures'
import { main as emulatorCalls } from './emulator'
import { accountsFor, measureFlows, type StepFigures } from './flow-steps'
import { compareVisitors } from './flow-visitors'
import { readOptions } from './options'
import { installPeers } from './peers'
import { openSetup } from './setup'
import { compareTokens } from './tokens'

/*
 * What happens once in a while, and what it costs: a first visit, a login, a six-minute check, a logout, beside the peers' own; a
 * visitor who keeps no cookies; a token signed and verified; the emulator itself. README.md of this folder.
 */

/** The program. @param args `--only steps,visitors,tokens,emulator` runs some of the parts */
export async function main(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  const isWanted = (part: string) => options.only?.includes(part) ?? true
  const browsers = options.quick ? 20 : 200
  const setup = await openSetup(accountsFor(options.rounds, browsers))
  try {
    if (isWanted('steps')) {
      const steps = await measureFlows(setup, installPeers(), options.rounds, browsers)
      console.log(
        `Medians (and quartiles) of ${options.rounds} rounds of ${browsers} browsers, one at a time. ${METHOD}\n`,
      )
      console.log(`${table(steps.map(lineOf))}\n`)
    }
    if (isWanted('visitors')) console.log(`${table(await compareVisitors(setup, options))}\n`)
    if (isWanted('tokens')) console.log(`${table(compareTokens(options))}\n`)
  } finally {
    await setup.close()
  }
  if (isWanted('emulator')) await emulatorCalls(options.quick ? ['--quick'] : [])
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
