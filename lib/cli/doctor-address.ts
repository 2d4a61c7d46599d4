/** Checks name, connection and certificate of each configured address. */
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import type { Agents } from '../config/agents'
import { Sso2UnavailableError } from '../errors'
import { sendCall } from '../remote/http'
import { connectionAdvice } from './connection-advice'
import { about, errorCode, type Finding, unavailableAt } from './doctor-finding'
import { portOf } from './port-of'

const CONNECT_MS = 5000
const DAY_MS = 86_400_000
const SOON_DAYS = 14

/**
 * Connects to an address and reads its certificate. With the option `agent`, asks through the agent, as the site does.
 * @param name of the option that has the address
 */
export async function addressFinding(name: string, url: URL, agent?: Agents): Promise<Finding> {
  if (agent !== undefined && name !== 'siteUrl') return throughAgent(name, url, agent)
  const { ok, note, wrong } = about(name)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(portOf(url))
  try {
    const { address } = await lookup(host)
    if (url.protocol === 'http:') {
      await waitForSocket(net.connect({ host, port }), 'connect')
      return note(`${url.origin} answers at ${address} without TLS`)
    }
    const days = await certificateDays(host, port)
    const says = `${url.origin} answers at ${address}, certificate valid for ${days} days`
    return days < SOON_DAYS ? note(says, 'renew the certificate') : ok(says)
  } catch (error) {
    const code = errorCode(error)
    const isStopped = name === 'siteUrl' && code === 'ECONNREFUSED'
    const start = `nothing listens at ${url.host}: start the site, or correct siteUrl (SSO2_SITE_URL)`
    return unavailableAt(
      url.origin,
      wrong(`${url.origin} cannot be reached: ${code}`, isStopped ? start : connectionAdvice(code)),
    )
  }
}

async function throughAgent(name: string, { href, origin }: URL, agent: Agents): Promise<Finding> {
  const { ok, wrong } = about(name)
  const call = sendCall({ operation: name, url: href, method: 'GET', timeoutMs: CONNECT_MS, agent })
  const outcome: unknown = await call.catch((error: unknown) => error)
  // a response that the package would refuse is a response
  if (!(outcome instanceof Sso2UnavailableError)) return ok(`${origin} answers through the option agent`)
  const code = outcome.reason ?? 'no answer in time'
  return unavailableAt(
    origin,
    wrong(`${origin} cannot be reached through the option agent: ${code}`, connectionAdvice(code)),
  )
}

async function certificateDays(host: string, port: number): Promise<number> {
  const socket = tls.connect({ host, port, ...(net.isIP(host) ? {} : { servername: host }) })
  let end = 0
  socket.once('secureConnect', () => {
    end = Date.parse(socket.getPeerCertificate().valid_to)
  })
  await waitForSocket(socket, 'secureConnect')
  return Math.floor((end - Date.now()) / DAY_MS)
}

async function waitForSocket(socket: net.Socket, event: string): Promise<void> {
  try {
    await once(socket, event, { signal: AbortSignal.timeout(CONNECT_MS) })
  } finally {
    socket.destroy()
  }
}
