import { Load, pageRequest } from './load'
import type { Group } from './readers'

/** One row of the table of warm requests: a server, and who asks it. */
export interface Row {
  readonly name: string
  readonly title: string
  readonly kind: string
  /** What the page of this package does. */
  readonly page?: 'plain' | 'read' | 'write'
  readonly readers: Group
}

/** The row that all others are measured by, and the control: the same again. */
export const measure = 'plain'
const control = 'plain-again'

/** Other packages for logins, which are installed apart. */
const others: readonly Row[] = [
  { name: 'openid', title: 'express-openid-connect, cookie', kind: 'openid', readers: 'openid' },
  { name: 'openid-redis', title: 'express-openid-connect, Redis', kind: 'openid-redis', readers: 'openid-redis' },
  { name: 'keycloak', title: 'keycloak-connect', kind: 'keycloak', readers: 'keycloak' },
  { name: 'clerk', title: '@clerk/express, networkless', kind: 'clerk', readers: 'clerk' },
]

const rows: readonly Row[] = [
  { name: 'bare', title: 'bare express', kind: 'bare', readers: 'nobody' },
  { name: measure, title: '*plain*', kind: 'plain', readers: 'plain' },
  { name: control, title: '*plain* again: the control', kind: 'plain', readers: 'plain' },
  { name: 'passport', title: '*plain* + passport', kind: 'passport', readers: 'passport' },
  ...(process.env['BENCH_OTHERS'] === undefined ? [] : others),
  { name: 'page', title: 'this package, page without `req.session`', kind: 'sso2', page: 'plain', readers: 'site' },
  { name: 'read', title: 'this package, page that reads it', kind: 'sso2', page: 'read', readers: 'filled' },
  { name: 'write', title: 'this package, page that writes it', kind: 'sso2', page: 'write', readers: 'filled' },
  { name: 'anonymous', title: 'this package, anonymous reader', kind: 'sso2', page: 'plain', readers: 'anonymous' },
]

/** The rows that are wanted. The measure is always among them. @throws where a name is unknown */
export function wantedRows(only: readonly string[] | undefined): Row[] {
  const unknown = only?.filter((name) => !rows.some((row) => row.name === name)) ?? []
  if (unknown.length > 0)
    throw new Error(`unknown rows: ${unknown.join(', ')}; there are ${rows.map(({ name }) => name).join(', ')}`)
  return rows.filter(({ name }) => name === measure || (only?.includes(name) ?? true))
}

/** What is asked of a row's server, and what it has to answer. */
export function loadOf(row: Row, port: number, cookies: readonly string[]): Load {
  const isKnown = row.readers !== 'nobody' && row.readers !== 'anonymous'
  const body = `<p>Good morning, ${isKnown ? 'Ada Lindqvist' : 'stranger'}</p>`
  return new Load(port, cookies.map(pageRequest), body)
}
