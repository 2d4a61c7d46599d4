/** Reads the form or the JSON of a POST, from the connection or from the bytes that another middleware has read. */
import { Readable } from 'node:stream'
import express, { type Request, type Response } from 'express'

const BODY_LIMIT = 8192

/** Status if another middleware has consumed the body, which is a fault of the site. */
export const BODY_CONSUMED = 500

/** Reads a body into `req.body`. @returns the error status if the body cannot be read, else `undefined` */
export type ReadBody = (req: Request, res: Response) => Promise<number | undefined>

/** Makes the body reader of a site. */
export function bodyReader(): ReadBody {
  const parsers = [
    express.json({ limit: BODY_LIMIT }),
    express.urlencoded({ extended: false, limit: BODY_LIMIT, parameterLimit: 20 }),
  ]
  return async (req, res) => {
    if (isParsed(req.body)) return undefined
    const source = bodySource(req)
    if (source === req && isConsumed(req)) return BODY_CONSUMED
    for (const parser of parsers) {
      const error = await new Promise<unknown>((resolve) => parser(source, res, resolve))
      if (error) return bodyErrorStatus(error)
    }
    req.body = source.body
    return lengthOf(req) > 0 && !req.is(['json', 'urlencoded']) ? 415 : undefined
  }
}

const lengthOf = ({ headers }: Request) => Number(headers['content-length'] ?? 0)

/** Has another middleware read the body and left `req.body` empty? An empty JSON body has two bytes: `{}`. */
const isConsumed = (req: Request) => req.readableDidRead && lengthOf(req) > 2

function isParsed(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !isBytes(body) && Object.keys(body).length > 0
}

const isBytes = (body: unknown): body is Uint8Array => body instanceof Uint8Array || Buffer.isBuffer(body)

/** Returns the request, or a stream of its body and headers if `req.body` has bytes or text (serverless-http, `express.raw`). */
function bodySource(req: Request): Request {
  const { body, headers, method } = req
  if (!isBytes(body) && typeof body !== 'string') return req
  const bytes = Buffer.from(body)
  const { 'transfer-encoding': _read, ...others } = headers
  const parts = { headers: { ...others, 'content-length': String(bytes.length) }, method, body: undefined }
  return Object.assign(Readable.from([bytes], { objectMode: false }), parts) as Readable as Request // a parser uses no other member of a request
}

const bodyErrorStatus = (error: unknown) =>
  typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number'
    ? error.status
    : 400
