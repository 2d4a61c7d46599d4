import { parseArgs } from 'node:util'
import { play } from './play'
import { judge } from './promises'
import { keepSeen, tell } from './report'

const OPTIONS = {
  steps: { type: 'string', default: '10000' },
  seed: { type: 'string' },
  runs: { type: 'string', default: '1' },
} as const

export async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS })
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  let broken = 0
  for (let run = 0; run < Number(values.runs); run += 1) {
    const begin = performance.now()
    const seed = first + run
    const history = await play({ seed, steps: Number(values.steps) })
    const violations = judge(history)
    broken += violations.length
    console.log(tell(seed, history, violations, performance.now() - begin))
    if (violations.length > 0) console.log(keepSeen(`history-${seed}`, { seed, history, violations }))
  }
  return broken > 0 ? 1 : 0
}
