import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { play } from './play'
import { judge, type Violation } from './promises'
import { groupBy } from './view'

/** A bug that is put into a copy of the built package. */
export interface Bug {
  readonly name: string
  readonly file: string
  readonly find: string
  readonly replace?: string
  readonly also?: readonly { readonly file?: string; readonly find: string; readonly replace: string }[]
  readonly breaks: readonly string[]
}

export const bugs: readonly Bug[] = require('./bug-list.js')

interface Patching {
  compile(source: string): string
  weaken(lib: string, bug: Bug): ReadonlyMap<string, string> | string
}
const { compile, weaken }: Patching = require('../security-mutations/patch.js')

export { weaken }

const { makeCopy }: { makeCopy(prefix: string): string } = require('../support/copy.js')

/** A bug has so many runs of so many steps to be found in. */
const RUNS = 3
const STEPS = 4000

/** Plays until the checker has found each bug. @param parts of names; none: all @returns how many were not found */
export async function findBugs(parts: readonly string[], seed: number): Promise<number> {
  const chosen = bugs.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)))
  let missed = 0
  for (const bug of chosen) {
    const dist = copyWith(bug)
    const found = await findBug(bug, dist, seed).finally(() => rmSync(path.dirname(dist), { recursive: true }))
    if (!found) missed += 1
    console.log(`| ${bug.name} | ${found ?? 'NOT FOUND'} |`)
  }
  console.log(`${chosen.length - missed} of ${chosen.length} bugs found`)
  return missed + Number(chosen.length === 0)
}

async function findBug({ breaks }: Bug, dist: string, first: number): Promise<string | undefined> {
  let steps = 0
  for (let seed = first; seed < first + RUNS; seed += 1) {
    const history = await play({ seed, steps: STEPS, dist })
    steps += history.entries.length
    const violations = judge(history)
    const isIt = ({ promise }: Violation) => breaks.some((begin) => promise.startsWith(begin))
    if (violations.some(isIt)) return `seed ${seed}, ${steps} steps | ${count(violations)}`
  }
  return undefined
}

const count = (violations: readonly Violation[]) =>
  [...groupBy(violations, ({ promise }) => promise)].map(([promise, { length }]) => `${promise}: ${length}`).join('; ')

/** @returns the folder of a built package that has the bug */
function copyWith(bug: Bug): string {
  const folder = makeCopy('express-sso2-bug-')
  const dist = path.join(folder, 'dist')
  const changed = weaken(path.join(folder, 'lib'), bug)
  if (typeof changed === 'string') throw new Error(`${bug.name}: ${changed}`)
  for (const [file, text] of changed) {
    const built = path.join(dist, file.replace(/ts$/, 'js'))
    if (readFileSync(built, 'utf8') === '') throw new Error(`${built} is empty`)
    writeFileSync(built, compile(text))
  }
  return dist
}
