/** Writes what the schema says of an option into the comment of its type. */
import path from 'node:path'
import type ts from 'typescript'
import { root } from '../../test/support/sources'
import type { Option } from './read-options'

const WIDTH = 120

/** The sources in which options are declared, with the comments that they should have. */
export function withComments(options: readonly Option[]): Map<string, string> {
  const files = new Map<ts.SourceFile, Option[]>()
  for (const option of options) {
    const file = option.declaration.getSourceFile()
    files.set(file, [...(files.get(file) ?? []), option])
  }
  return new Map([...files].map(([file, here]) => [path.relative(root, file.fileName), rewritten(file, here)]))
}

/** From the end of the file, so that what stands before stays in its place. */
function rewritten(file: ts.SourceFile, options: readonly Option[]): string {
  const fromEnd = [...options].sort((a, b) => b.declaration.pos - a.declaration.pos)
  return fromEnd.reduce((text, { declaration, ...option }) => {
    const begin = declaration.getStart(file, true)
    const name = declaration.getStart(file)
    const [indent = ''] = /[ ]*$/.exec(text.slice(0, begin)) ?? []
    return text.slice(0, begin) + comment(sentences(option), indent) + text.slice(name)
  }, file.text)
}

/** Everything that is known of an option, as one text. */
function sentences({ description, mustBe, defaultText, variable }: Omit<Option, 'declaration'>): string {
  const must = mustBe && `Must be ${mustBe}.`
  const environment = variable && `Environment variable: \`${variable}\``
  const absent = defaultText?.startsWith('required') ? capital(defaultText) : defaultText && `Default: ${defaultText}`
  const last = [absent, environment].filter(Boolean).join('. ')
  return [description, must, last && `${last}.`].filter(Boolean).join(' ')
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

function comment(text: string, indent: string): string {
  const line = `/** ${text} */`
  if (indent.length + line.length <= WIDTH) return `${line}\n${indent}`
  const lines = wrapped(text, WIDTH - indent.length - ' * '.length).map((one) => `${indent} * ${one}`)
  return ['/**', ...lines, `${indent} */`, indent].join('\n')
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer
    else lines.push(word)
  }
  return lines
}
