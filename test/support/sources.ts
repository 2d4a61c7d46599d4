import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseSync } from '@swc/core'

export const root = path.join(__dirname, '..', '..')
export const readText = (...parts: string[]) => readFileSync(path.join(root, ...parts), 'utf8')

/** The sources of the package, by path below `lib`. */
export const sources: ReadonlyMap<string, string> = new Map(
  readdirSync(path.join(root, 'lib'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => [file.split(path.sep).join('/'), readText('lib', file)] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1)),
)

export type Node = Readonly<Record<string, unknown>>
const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null

export const treeOf = (source: string) => parseSync(source, { syntax: 'typescript', target: 'es2022' })

export function* nodesOf(value: unknown): Generator<Node> {
  if (!isNode(value)) return
  yield value
  for (const child of Object.values(value)) yield* nodesOf(child)
}
