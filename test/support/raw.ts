import { createHmac } from 'node:crypto'
import net from 'node:net'
import { sessionSecret } from './setup'

/** Sends lines as they are, byte for byte, and returns the whole answer, which is empty when the server hung up. */
export function askRaw(site: string, lines: readonly string[], encoding: BufferEncoding = 'latin1'): Promise<string> {
  const bytes = Buffer.from([...lines, 'Connection: close', '', ''].join('\r\n'), encoding)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(site).port), '127.0.0.1', () => socket.write(bytes))
    const chunks: Buffer[] = []
    const finish = () => resolve(Buffer.concat(chunks).toString('latin1'))
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.once('error', (error: NodeJS.ErrnoException) => (error.code === 'ECONNRESET' ? finish() : reject(error)))
    socket.once('close', finish)
  })
}

/** Sends one GET with header lines as they are: a client library would refuse or mend some of them. */
export async function rawGet(site: string, path: string, lines: readonly string[], encoding: BufferEncoding = 'utf8') {
  return read(await askRaw(site, [`GET ${path} HTTP/1.1`, `Host: ${new URL(site).host}`, ...lines], encoding))
}

function read(text: string) {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const lines = head.split('\r\n')
  const setCookie = lines.filter((line) => /^set-cookie:/i.test(line)).map((line) => line.replace(/^[^:]*: ?/, ''))
  return { status: Number(lines[0]?.split(' ')[1]), setCookie, body: rest.join('\r\n\r\n') }
}

/** The session cookie of an ID, signed as express-session signs, by default with the site's own secret. */
export const signedId = (id: string, secret = sessionSecret) =>
  encodeURIComponent(`s:${id}.${createHmac('sha256', secret).update(id).digest('base64').replace(/=+$/, '')}`)

/** A `Set-Cookie` line taken apart; names of attributes in small letters. */
export function parseSetCookie(line: string) {
  const [pair = '', ...parts] = line.split(';')
  const mark = pair.indexOf('=')
  const attributes = parts.map((part) => {
    const [key = '', ...value] = part.trim().split('=')
    return [key.toLowerCase(), value.join('=')] as const
  })
  return { name: pair.slice(0, mark), value: pair.slice(mark + 1), attributes: Object.fromEntries(attributes) }
}

/** Does the line delete its cookie? */
export function isExpiry({ attributes }: Pick<ReturnType<typeof parseSetCookie>, 'attributes'>): boolean {
  return attributes['max-age'] === '0' || Date.parse(attributes['expires'] ?? '') <= 0
}
