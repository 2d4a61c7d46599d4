/** Every option of `sso2()`: what its schema says of it, and where its type stands. */
import path from 'node:path'
import ts from 'typescript'
import type { z } from 'zod'
import { VARIABLES } from '../../lib/config/load'
import { optionSchemas } from '../../lib/config/schema'
import { optionsWithin } from '../../lib/config/unknown-options'
import { root } from '../../test/support/sources'

/** Where the type of all options is declared. */
const OPTIONS = path.join(root, 'lib', 'web', 'sso2-options.ts')

/** One option, or a member of one. */
export interface Option {
  /** For example `session.idleSeconds`. */
  readonly name: string
  readonly variable: string | undefined
  readonly description: string
  /** What a wrong value is told to be, where that says more than the type. */
  readonly mustBe: string | undefined
  /** Undefined where there is none; `'required'` where there must be a value. */
  readonly defaultText: string | undefined
  /** Its type as the source has it; `object` where its members are options of their own. */
  readonly type: string
  readonly declaration: ts.PropertySignature
}

/** @throws {Error} an option without a description, or whose error says nothing */
export function readOptions(): Option[] {
  const program = ts.createProgram([OPTIONS], {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    strict: true,
    exactOptionalPropertyTypes: true,
    esModuleInterop: true,
    types: ['node'],
  })
  const declared = program
    .getSourceFile(OPTIONS)
    ?.statements.find((statement) => ts.isInterfaceDeclaration(statement) && statement.name.text === 'Sso2Options')
  if (!declared) throw new Error(`${OPTIONS} has no Sso2Options`)
  const checker = program.getTypeChecker()
  const all = Object.entries(optionSchemas()).flatMap(([name, schema]) =>
    optionsOf(checker, checker.getTypeAtLocation(declared), name, schema),
  )
  const typed = checker.getTypeAtLocation(declared).getProperties()
  const suppressed = typed.filter(({ name }) => !all.some((option) => option.name === name))
  if (suppressed.length > 0) throw new Error(`no schema has ${suppressed.map(({ name }) => name).join(', ')}`)
  return all
}

/** An option, and its members after it. */
function optionsOf(checker: ts.TypeChecker, owner: ts.Type, name: string, schema: z.ZodType): Option[] {
  const property = propertyOf(owner, name.slice(name.lastIndexOf('.') + 1))
  const [declaration] = property?.getDeclarations() ?? []
  if (!property || !declaration || !ts.isPropertySignature(declaration)) throw new Error(`${name} has no type`)
  const { description, defaultText } = schema.meta() ?? {}
  if (!description) throw new Error(`${name} has no description`)
  const type = checker.getTypeOfSymbol(property)
  const members = Object.entries(optionsWithin(schema)).flatMap(([key, member]) =>
    optionsOf(checker, type, `${name}.${key}`, member),
  )
  const option = {
    name,
    variable: VARIABLES[name],
    description,
    mustBe: mustBe(name, schema),
    defaultText: typeof defaultText === 'string' ? defaultText : defaultOf(name, schema),
    type: typeText(declaration),
    declaration,
  }
  return [option, ...members]
}

/** Of a type, or of the one of its alternatives that has it. */
function propertyOf(type: ts.Type, name: string): ts.Symbol | undefined {
  const alternatives = type.isUnion() ? type.types : [type]
  return alternatives.map((one) => one.getProperty(name)).find((found) => found !== undefined)
}

/** Every option and member may be `undefined`, which the page leaves out. The result of a hook keeps it. */
function typeText({ type }: ts.PropertySignature): string {
  if (!type) return 'unknown'
  const parts = (ts.isUnionTypeNode(type) ? [...type.types] : [type]).filter(
    ({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword,
  )
  const [only] = parts.length === 1 ? parts : []
  if (only && ts.isTypeLiteralNode(only)) return 'object'
  const bare = only && ts.isParenthesizedTypeNode(only) ? [only.type] : parts
  return bare
    .map(partText)
    .join(' | ')
    .replaceAll(/(\?: \w+) \| undefined/g, '$1')
}

const partText = (part: ts.TypeNode) => (ts.isTypeLiteralNode(part) ? 'object' : part.getText().replace(/\s+/g, ' '))

interface Definition {
  readonly type: string
  readonly defaultValue?: unknown
}
const definitionOf = (schema: z.ZodType) => schema.def as Definition

/** What the schema says to a value that fits no option. */
function mustBe(name: string, schema: z.ZodType): string | undefined {
  const [message = ''] = schema.safeParse(Symbol(name)).error?.issues.map((issue) => issue.message) ?? []
  const [, text] = /^must be (.+)$/.exec(message) ?? []
  if (text === undefined) throw new Error(`${name} says to a wrong value: ${message}`)
  return /^(?:a function|a text|true or false|\{.*\}|'.*')$/.test(text) ? undefined : text
}

function defaultOf(name: string, schema: z.ZodType): string | undefined {
  const { type, defaultValue } = definitionOf(schema)
  if (type === 'default') return valueText(name, defaultValue)
  return schema.safeParse(undefined).success ? undefined : 'required'
}

const DAY = 86_400

function valueText(name: string, value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0)
    return undefined
  const text = JSON.stringify(value)
    .replaceAll('"', "'")
    .replace(/([{,])'(\w+)':/g, '$1 $2: ')
    .replace(/\}$/, ' }')
  const isDays = name.endsWith('Seconds') && typeof value === 'number' && value >= DAY
  return isDays ? `\`${text}\` (${value / DAY} days)` : `\`${text}\``
}
