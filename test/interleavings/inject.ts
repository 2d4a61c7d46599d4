import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

export interface Injected {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

/** A connection that ends in memory: what is written to it is kept. */
class Line extends Duplex {
  readonly remoteAddress = '127.0.0.1'
  readonly written: Buffer[] = []
  override _read(): void {}
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written.push(chunk)
    done()
  }
}

/** Hands a request to an application as Node.js does, without a network between: tens of thousands a minute are wanted. */
export function inject(app: RequestListener, { method, url, headers, body }: Injected): Promise<Answer> {
  const line = new Line()
  const req = new IncomingMessage(line as unknown as Socket)
  const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  Object.assign(req, { method, url, httpVersion: '1.1', httpVersionMajor: 1, httpVersionMinor: 1, complete: true })
  Object.assign(req.headers, headers, length)
  if (body !== undefined) req.push(body)
  req.push(null)
  const res = new ServerResponse(req)
  res.useChunkedEncodingByDefault = false // the body is what follows the head
  res.assignSocket(line as unknown as Socket)
  return new Promise((resolve, reject) => {
    res.once('finish', () => resolve(read(res, Buffer.concat(line.written).toString('utf8'))))
    line.once('close', () => reject(new Error('the connection ended without an answer')))
    app(req, res)
  })
}

type Answer = ReturnType<typeof read>

function read(res: ServerResponse, text: string) {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(res.getHeaders())) headers[name] = String(value)
  const setCookie = [res.getHeader('set-cookie') ?? []].flat().map(String)
  const end = text.indexOf('\r\n\r\n')
  return { status: res.statusCode, headers, setCookie, body: end < 0 ? '' : text.slice(end + 4) }
}
