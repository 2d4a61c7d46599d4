/** As much of Mermaid's sequence diagrams as the documentation uses: whatever else stands there is a problem. */

const ARROW = /^(\w+)(?:-?->>[+-]?|-?-[x)])(\w+): \S.*$/
const OPENS = /^(?:alt|opt|loop|par|rect|break|critical) \S/
const LINES = [/^participant (\w+) as \S.*$/, /^actor (\w+) as \S.*$/, /^autonumber$/]
const NOTE = /^Note (?:over|left of|right of) (\w+)(?:,(\w+))?: \S.*$/

/** @returns what is wrong with one diagram, line by line */
export function mermaidProblems(source: string): string[] {
  const [kind, ...lines] = source.split('\n').map((line) => line.trim())
  if (kind !== 'sequenceDiagram') return [`${kind}: only sequence diagrams are known here`]
  const people = new Set<string>()
  const problems: string[] = []
  let depth = 0
  for (const line of lines.filter((text) => text !== '' && !text.startsWith('%%'))) {
    const [, declared] = LINES.map((form) => form.exec(line)).find((match) => match) ?? []
    if (declared) people.add(declared)
    const named = (ARROW.exec(line) ?? NOTE.exec(line))?.slice(1).filter((name) => name !== undefined)
    const isBlock = OPENS.test(line) || (depth > 0 && /^(?:end|else \S.*)$/.test(line))
    if (OPENS.test(line)) depth += 1
    if (line === 'end') depth -= 1
    const isKnown = named?.every((name) => people.has(name)) ?? (isBlock || LINES.some((form) => form.test(line)))
    if (!isKnown || /[;#]/.test(line)) problems.push(line)
  }
  return depth === 0 ? problems : [...problems, 'a block has no end']
}
