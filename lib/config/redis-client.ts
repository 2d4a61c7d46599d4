/** Checks the option `redis`: an address, or an ioredis client of the site, in the site's own version of ioredis. No message quotes an address. */
import { domainToASCII } from 'node:url'
import type { Cluster, Redis } from 'ioredis'
import { z } from 'zod'
import { HOST } from './validators'

/** Members that `Redis` and `Cluster` have in all versions of ioredis. Other Redis clients do not have all of them. */
export interface RedisClient {
  /** Is this a client of several Redis masters? */
  readonly isCluster: boolean
  /** State of the connection, as ioredis names the states. */
  readonly status: string
  /** Defines a command that runs a Lua script. */
  defineCommand(name: string, definition: { lua: string; numberOfKeys?: number }): void
  /** Reads several keys at once. */
  mget(...keys: string[]): Promise<(string | null)[]>
  /** Ends the connection. */
  disconnect(reconnect?: boolean): void
}

const KIND = 'must be an address redis:// or rediss://, or an ioredis client'
const ENCODING = 'must have / ? # @ and % percent-encoded in user name and password: %2F %3F %23 %40 %25'
const MAX_PORT = 65_535

/** Returns the parts of an address. A `/`, `?` or `#` ends the authority, also within a password. */
function partsOf(address: string) {
  const scheme = address.slice(0, address.indexOf(':'))
  const rest = address.slice(`${scheme}://`.length)
  const authority = rest.replace(/[/?#].*/, '')
  const user = authority.slice(0, authority.lastIndexOf('@') + 1)
  const server = authority.slice(user.length)
  const host = server.replace(/:[^:\]]*$/, '')
  const behind = rest.slice(authority.length)
  const database = behind.replace(/[?#].*/, '')
  return {
    scheme,
    user,
    host,
    port: server.slice(host.length + 1),
    behind,
    database,
    query: behind.slice(database.length),
  }
}

function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text).length >= 0
  } catch {
    return false
  }
}

/** Returns a host as DNS knows it, or an empty text. */
function asciiHost(host: string): string {
  const ascii = /^[\p{L}\p{M}\p{N}_.-]+$/u.test(host) && !HOST.test(host) ? domainToASCII(host) : host
  return HOST.test(ascii) && URL.canParse(`redis://${ascii}`) ? ascii : ''
}

function addressProblem(address: string): string | undefined {
  if (!/^rediss?:\/\//i.test(address)) return KIND
  if (/[\s\p{Cc}]/u.test(address)) return 'must not hold white space'
  const { user, host, port, behind, database, query } = partsOf(address)
  if (behind.includes('@') || !isDecodable(user)) return ENCODING
  if (asciiHost(host) === '') return 'must have a host of letters, digits, dots and dashes'
  if (port !== '' && !(/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= MAX_PORT))
    return `must have a port from 1 to ${MAX_PORT}`
  if (!/^(?:\/\d{0,9})?$/.test(database)) return 'must end with the number of a database, such as /0, or without one'
  if (!/^(?:\?family=[046])?$/.test(query))
    return 'must have no parameter but family=4 or family=6: pass an ioredis client for other options'
  return undefined
}

/** Returns an address as ioredis reads it: scheme in small letters, host in punycode, user name and password percent-encoded. */
function readAddress(address: string): string {
  const { scheme, user, host, port, behind } = partsOf(address)
  return new URL(`${scheme}://${user}${asciiHost(host)}${port && `:${port}`}${behind}`).href
}

type Options = Readonly<Record<string, unknown>>

const isTruthyInCluster = (value: unknown, isCluster: boolean) => isCluster && Boolean(value)

/** Options of ioredis that change replies or move commands. `isRefused` gets the value and whether the client is a `Cluster`. */
const REFUSED: readonly [option: string, isRefused: (value: unknown, isCluster: boolean) => boolean, why: string][] = [
  ['stringNumbers', Boolean, 'numbers would arrive as texts'],
  ['replyMapping', (value) => value === 'resp3', 'replies would have other types'],
  ['monitor', Boolean, 'it takes no commands'],
  ['scaleReads', (value) => value !== undefined && value !== 'master', 'replicas answer with outdated sessions'],
  ['readOnly', Boolean, 'replicas answer with outdated sessions'],
  ['role', (value) => value === 'slave', 'replicas answer with outdated sessions'],
  ['keyPrefix', isTruthyInCluster, 'the master of a key would not be known. Use session.prefix of sso2()'],
  ['enableAutoPipelining', isTruthyInCluster, 'scripts would be sent to a wrong master'],
]

const isObject = (value: unknown): value is Options => typeof value === 'object' && value !== null

/** Returns all options of a client. A Cluster also has options for each node. */
function optionsOf(client: Options): Options[] {
  const options = isObject(client['options']) ? client['options'] : {}
  return [options, options['redisOptions'], client['startupNodes']].flat().filter(isObject)
}

function clientProblem(client: unknown): string | undefined {
  if (!isObject(client) || !('mget' in client && 'defineCommand' in client)) return KIND
  const options = optionsOf(client)
  const row = REFUSED.find(([option, isRefused]) =>
    options.some((given) => isRefused(given[option], client['isCluster'] === true)),
  )
  return row && `must not be a client with ${row[0]}: ${row[2]}`
}

/** Schema of the option `redis`. */
export const redisOption = z
  .custom<string | Redis | Cluster>(() => true)
  .superRefine((given, context) => {
    const problem = typeof given === 'string' ? addressProblem(given) : clientProblem(given)
    if (problem) context.addIssue({ code: 'custom', message: problem })
  })
  .transform((given) => (typeof given === 'string' ? readAddress(given) : given))
