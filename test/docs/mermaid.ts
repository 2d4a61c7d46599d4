/** As much of Mermaid's sequence diagrams as the documentation uses. Any other line is a problem. */

export type Row =
  | {
      readonly kind: 'arrow'
      readonly from: string
      readonly to: string
      readonly text: string
      readonly isDashed: boolean
    }
  | { readonly kind: 'note'; readonly over: string; readonly text: string }
  | { readonly kind: 'open'; readonly word: string; readonly text: string }
  | { readonly kind: 'else'; readonly text: string }
  | { readonly kind: 'end' }

/** A column of a diagram. */
interface Person {
  readonly name: string
  readonly title: string
}

export interface Diagram {
  readonly people: readonly Person[]
  readonly rows: readonly Row[]
  readonly problems: readonly string[]
}

const PERSON = /^(?:participant|actor) (\w+) as (\S.*)$/
const ARROW = /^(\w+)(-?->>)[+-]?(\w+): (\S.*)$/
const OPENS = /^(alt|opt|loop) (\S.*)$/
const ELSE = /^else (\S.*)$/
const NOTE = /^Note over (\w+): (\S.*)$/

export function parseDiagram(source: string): Diagram {
  const [kind, ...lines] = source
    .trim()
    .split('\n')
    .map((line) => line.trim())
  if (kind !== 'sequenceDiagram')
    return { people: [], rows: [], problems: [`${kind}: only sequence diagrams are known here`] }
  const [people, rows, problems]: [Person[], Row[], string[]] = [[], [], []]
  let depth = 0
  for (const line of lines.filter((text) => text !== '' && text !== 'autonumber' && !text.startsWith('%%'))) {
    const [, name, title] = PERSON.exec(line) ?? []
    if (name && title) {
      people.push({ name, title })
      continue
    }
    const row = rowOf(line, people, depth)
    if (row?.kind === 'open') depth += 1
    if (line === 'end') depth -= 1
    if (!row || /[;#]/.test(line)) problems.push(line)
    else rows.push(row)
  }
  if (depth !== 0) problems.push('a block has no end')
  return { people, rows, problems }
}

function rowOf(line: string, people: readonly Person[], depth: number): Row | undefined {
  const isKnown = (...names: string[]) => names.every((name) => people.some((one) => one.name === name))
  const [, from = '', shaft, to = '', said = ''] = ARROW.exec(line) ?? []
  if (shaft) return isKnown(from, to) ? { kind: 'arrow', from, to, text: said, isDashed: shaft === '-->>' } : undefined
  const [, over = '', noted = ''] = NOTE.exec(line) ?? []
  if (over) return isKnown(over) ? { kind: 'note', over, text: noted } : undefined
  const [, word, opened = ''] = OPENS.exec(line) ?? []
  if (word) return { kind: 'open', word, text: opened }
  if (depth < 1) return undefined
  const [, other] = ELSE.exec(line) ?? []
  if (other) return { kind: 'else', text: other }
  return line === 'end' ? { kind: 'end' } : undefined
}

/** @returns the problems of one diagram, line by line */
export const mermaidProblems = (source: string): readonly string[] => parseDiagram(source).problems
