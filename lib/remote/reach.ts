/** Can a host be connected to at all? Says nothing to it, so that it costs the other side next to nothing. */
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { Sso2UnavailableError } from '../errors'

/**
 * Connects, with TLS where the address says so, and hangs up.
 * @throws {Sso2UnavailableError} no connection in time
 */
export async function reach(operation: string, address: string, timeoutMs: number): Promise<void> {
  const url = new URL(address)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isSecure = url.protocol === 'https:'
  const port = Number(url.port || (isSecure ? 443 : 80))
  const socket = isSecure
    ? tls.connect({ host, port, ...(net.isIP(host) ? {} : { servername: host }) })
    : net.connect({ host, port })
  socket.unref()
  try {
    await once(socket, isSecure ? 'secureConnect' : 'connect', { signal: AbortSignal.timeout(timeoutMs) })
  } catch {
    throw new Sso2UnavailableError(operation, true, 'no connection')
  } finally {
    socket.destroy()
  }
}
