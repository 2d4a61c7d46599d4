/** The option `agent`: agents of all server-to-server calls. */
import type http from 'node:http'

/** Agents of server-to-server calls: one for all, or one for each scheme. A scheme without an agent uses the package's own. */
export type Agents = http.Agent | { readonly http?: http.Agent | undefined; readonly https?: http.Agent | undefined }

const SCHEMES: readonly string[] = ['http', 'https']

/** Is the value an agent, of any copy of its class? Node requires this method of an agent. */
export const isAgent = (value: unknown): value is http.Agent =>
  typeof value === 'object' && value !== null && 'addRequest' in value && typeof value.addRequest === 'function'

/** Is the value an agent, or an object of agents by scheme? */
export function areAgents(value: unknown): boolean {
  if (isAgent(value)) return true
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).every(
    ([name, agent]) => SCHEMES.includes(name) && (agent === undefined || isAgent(agent)),
  )
}

/** Reports an agent of the other scheme than an address. Agents of a proxy fit both. */
export function agentProblems(
  agent: unknown,
  addresses: Readonly<Record<string, string | undefined>>,
): { readonly option: string; readonly message: string }[] {
  return Object.entries(addresses).flatMap(([name, address]) => {
    const scheme = address === undefined ? undefined : new URL(address).protocol
    const chosen = isAgent(agent) ? agent : Reflect.get(Object(agent), scheme?.slice(0, -1) ?? '')
    const own = isAgent(chosen) && Object.hasOwn(chosen, 'protocol') ? Reflect.get(chosen, 'protocol') : scheme
    const message = `is an agent for ${own} addresses, and ${name} begins with ${scheme} Give { http, https }`
    return own === scheme ? [] : [{ option: 'agent', message }]
  })
}
