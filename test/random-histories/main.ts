import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { findBugs } from './bugs'
import { play } from './play'
import { judge } from './promises'
import { tell } from './report'

/* `npm run history`: README.md shows its options. */

const OPTIONS = {
  steps: { type: 'string', default: '10000' },
  seed: { type: 'string' },
  runs: { type: 'string', default: '1' },
  dist: { type: 'string' },
  json: { type: 'string' },
  bugs: { type: 'boolean', default: false },
} as const

export async function main(): Promise<number> {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true })
  if (values.bugs) return (await findBugs(positionals, Number(values.seed ?? 1))) > 0 ? 1 : 0
  const first = Number(values.seed ?? Math.floor(Math.random() * 1_000_000))
  let broken = 0
  for (let run = 0; run < Number(values.runs); run += 1) {
    const begin = performance.now()
    const seed = first + run
    const history = await play({ seed, steps: Number(values.steps), dist: values.dist })
    const violations = judge(history)
    const file = fileFor(values.json, seed, Number(values.runs), violations.length > 0)
    if (file !== undefined) writeFileSync(file, JSON.stringify({ seed, history, violations }))
    broken += violations.length
    console.log(tell(seed, history, violations, performance.now() - begin))
    if (file !== undefined) console.log(`  all that was seen: ${file}`)
  }
  return broken > 0 ? 1 : 0
}

/** Several runs leave a file each, and a history that broke a promise leaves one in any case: its moments do not come again. */
function fileFor(name: string | undefined, seed: number, runs: number, isBroken: boolean): string | undefined {
  if (name === undefined) return isBroken ? path.join(tmpdir(), `express-sso2-history-${seed}.json`) : undefined
  return runs > 1 ? name.replace(/(?:\.json)?$/, `-${seed}.json`) : name
}
