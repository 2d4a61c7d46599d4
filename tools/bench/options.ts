import { parseArgs } from 'node:util'

/** What all programs understand. */
export interface Options {
  /** About a minute: shows that everything works, no figures to go by. */
  readonly quick: boolean
  readonly rounds: number
  /** Names of the rows that are wanted; `undefined`: all. */
  readonly only: readonly string[] | undefined
  /** Requests a server has answered when its memory is looked at. */
  readonly requests: number
}

/** Reads the command line. @throws where no program has the name */
export function parseCommand(programs: readonly string[]): { readonly name: string; readonly options: Options } {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      requests: { type: 'string' },
    },
    allowPositionals: true,
  })
  const [name = 'warm'] = positionals
  if (!programs.includes(name)) throw new Error(`${name} is none of ${programs.join(', ')}`)
  const { quick } = values
  const options = {
    quick,
    rounds: Number(values.rounds ?? (quick ? 3 : 9)),
    only: values.only?.split(','),
    requests: Number(values.requests ?? (quick ? 3000 : 100_000)),
  }
  return { name, options }
}
