/** Reads the body of a request as bytes. Replaces `express.raw`, which Express 4.16 does not have. */
import type { RequestHandler } from 'express'

/** Sets `req.body` to a Buffer for every content type. Refuses a longer body with 413, and a compressed body with 415. */
export function rawBody(maxBytes: number): RequestHandler {
  return (req, _res, next) => {
    const { 'content-length': declared = '0', 'content-encoding': encoding = 'identity' } = req.headers
    const isEncoded = encoding.toLowerCase() !== 'identity'
    let isRefused = isEncoded || Number(declared) > maxBytes
    if (isRefused) next(withStatus(isEncoded ? 415 : 413))
    let length = 0
    const chunks: Buffer[] = []
    // The rest of a refused body is read and dropped, so that the client gets the response and the connection stays usable.
    req.on('data', (chunk: Buffer) => {
      if (isRefused) return
      length += chunk.length
      chunks.push(chunk)
      if (length <= maxBytes) return
      isRefused = true
      next(withStatus(413))
    })
    req.on('end', () => {
      if (isRefused) return
      req.body = Buffer.concat(chunks)
      next()
    })
  }
}

const withStatus = (status: number) => Object.assign(new Error('the body is refused'), { status })
