/** Reports options that would have no effect: unknown options, each with the nearest known name, and options that need or exclude another. */
import type { z } from 'zod'
import type { ConfigProblem } from '../errors'
import { isObject } from '../protocol/json'

type Schemas = Readonly<Record<string, z.ZodType>>

/** Options of express-openid-connect and express-session for which the fewest edits lead to another option. */
const NAMES_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['secret', 'sessionSecret'],
  ['baseURL', 'siteUrl'],
  ['store', 'redis'],
  ['session.store', 'redis'],
  ['session.rollingDuration', 'session.idleSeconds'],
  ['routes.callback', 'routes.landing'],
  ['afterCallback', 'onLogin'],
])

/** Reports every unknown option, nested options too. An `undefined` option counts as absent. */
export function unknownOptions(schemas: Schemas, options: object): ConfigProblem[] {
  const names = namesIn(schemas, '')
  return unknownIn(schemas, options, '').map((option) => {
    return {
      option,
      message: `is no option: the nearest name is ${NAMES_ELSEWHERE.get(option) ?? nearest(option, names)}`,
    }
  })
}

type Row = readonly [option: string, value: unknown, isUsed: boolean, message: string]

/** Reports known options that have no effect beside the others. Variables do not count, because one environment may serve several sites. */
export function unusedOptions(options: Readonly<Record<string, unknown>>): ConfigProblem[] {
  const { contentSecurityPolicy, views, exchangeTicket, ticketExchange, loadUser, userPath } = options
  const hasViews = isObject(views) && Object.values(views).some((view) => view !== undefined)
  const { grantType, ticketParameter } = isObject(ticketExchange) ? ticketExchange : {}
  const beside = (hook: string) => `has no effect with ${hook}: leave out one of the two`
  const rows: readonly Row[] = [
    [
      'contentSecurityPolicy',
      contentSecurityPolicy,
      hasViews,
      'has no effect without views: built-in pages have a policy',
    ],
    ['ticketExchange.grantType', grantType, exchangeTicket === undefined, beside('exchangeTicket')],
    ['ticketExchange.ticketParameter', ticketParameter, exchangeTicket === undefined, beside('exchangeTicket')],
    ['userPath', userPath, loadUser === undefined, beside('loadUser')],
  ]
  return rows.flatMap(([option, value, isUsed, message]) =>
    value === undefined || isUsed ? [] : [{ option, message }],
  )
}

function unknownIn(schemas: Schemas, given: object, path: string): string[] {
  return Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return []
    const schema = Object.hasOwn(schemas, name) ? schemas[name] : undefined
    if (!schema) return [path + name]
    const inner = optionsWithin(schema)
    const isFollowed = Object.keys(inner).length > 0 && typeof value === 'object' && value !== null
    return isFollowed && !Array.isArray(value) ? unknownIn(inner, value, `${path}${name}.`) : []
  })
}

const namesIn = (schemas: Schemas, path: string): string[] =>
  Object.entries(schemas).flatMap(([name, schema]) => [
    path + name,
    ...namesIn(optionsWithin(schema), `${path}${name}.`),
  ])

interface Definition {
  readonly innerType?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly shape?: Schemas
}

/** Returns the options within an option. A plain value has none. */
export function optionsWithin(schema: z.ZodType): Schemas {
  const { shape, innerType, options = [] } = schema.def as Definition
  if (innerType) return optionsWithin(innerType)
  return shape ?? Object.assign({}, ...options.map(optionsWithin))
}

const ownName = (path: string) => path.slice(path.lastIndexOf('.') + 1)

/** Returns the known name with the fewest edits. A name of another parent counts as two edits more. */
export function nearest(path: string, names: readonly string[]): string {
  const parent = path.slice(0, path.length - ownName(path).length)
  const cost = (name: string) => {
    const isSibling = name.startsWith(parent) && !name.slice(parent.length).includes('.')
    return distance(ownName(path).toLowerCase(), ownName(name).toLowerCase()) + (isSibling ? 0 : 2)
  }
  return names.reduce((best, name) => (cost(name) < cost(best) ? name : best), names[0] ?? '')
}

/** Counts the edits between two names. A part of the known name counts as a single edit: `logo` for `logoUrl`. */
export function distance(from: string, to: string): number {
  const edits = editsBetween(from, to)
  return from.length > 2 && to.includes(from) ? Math.min(edits, 1) : edits
}

/** Counts the letters to insert, delete or replace (Levenshtein). A name longer than 64 letters is cut. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (const letter of from.slice(0, 64)) {
    const next = [(row[0] ?? 0) + 1]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
