/**
 * Connects Express with the operations, and applies faults between request and response.
 * The decisions are elsewhere: the operations in `http/`, the session rules in `platform/`.
 */
import { pipeline, Readable } from 'node:stream'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import { ControlError } from './control/request'
import { controlRouter } from './control/routes'
import type { Fault } from './faults/list'
import type { EmulatedOperation } from './faults/rules'
import { type Answer, bareStatus, emptyJson, jsonError, nullJson, type Work } from './http/answers'
import { type BackChannelOperation, backChannelWork } from './http/back-channel'
import { BROWSER_COOKIE, identifyWork } from './http/identify'
import { rawBody } from './http/raw-body'
import { type RestOperation, restEndpoints, restWork } from './http/rest'
import { tokenWork } from './http/token-endpoint'
import type { Call } from './platform/calls'
import { browserKey } from './platform/sessions'
import { portalRouter } from './portal/router'
import type { Runtime } from './runtime'

const MAX_BODY_BYTES = 32 * 1024
const backChannel: readonly BackChannelOperation[] = ['authenticate', 'sessionstatus', 'logout', 'logoutall']

/** Creates the platform as an Express application. */
export function createApp(runtime: Runtime): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('case sensitive routing')
  app.enable('strict routing')
  app.set('query parser', false)
  app.use((_req, res, next) => {
    res.setHeader('x-sso2-emulator', '1')
    res.setHeader('x-content-type-options', 'nosniff')
    next()
  })
  // Any content type is read, so that a wrong type also gets a response, a log entry and faults.
  app.use(['/sso', '/oauth', '/external'], rawBody(MAX_BODY_BYTES))
  addOperations(app, runtime)
  app.use('/_emulator', controlRouter(runtime))
  app.use('/', portalRouter(runtime))
  app.use((_req, res) => sendAnswer(res, jsonError(404, 'not_found', 'there is nothing at this address')))
  app.use(answerError)
  return app
}

function addOperations(app: Express, runtime: Runtime): void {
  const add = (operation: EmulatedOperation, method: string, path: string, read: (req: Request) => Work) =>
    app.all(path, (req, res) => {
      if (req.method === method) serve(runtime, res, read(req))
      else refuseMethod(runtime, res, operation, method)
    })
  add('identify', 'GET', '/sso/identify', (req) =>
    identifyWork(runtime, { query: rawQuery(req), browser: browserOf(req) }),
  )
  for (const operation of backChannel) {
    add(operation, 'POST', `/sso/${operation}`, (req) => backChannelWork(runtime, operation, jsonBody(req)))
  }
  add('token', 'POST', '/oauth/token', (req) =>
    tokenWork(runtime, { fields: formBody(req), authorization: req.headers.authorization }),
  )
  for (const operation of restOperations) {
    const { method, path } = restEndpoints[operation]
    add(operation, method, path, (req) =>
      restWork(runtime, operation, {
        authorization: req.headers.authorization,
        query: rawQuery(req),
        body: jsonBody(req),
      }),
    )
  }
}

/** Refuses a request with another method. An operation that is down or hangs responds to no method. */
function refuseMethod(runtime: Runtime, res: Response, operation: EmulatedOperation, method: string): void {
  const fault = runtime.faults.list().find((one) => one.operation === operation && one.sid === undefined)
  if (fault?.kind === 'hang') return
  if (fault?.kind === 'down') res.socket?.destroy()
  else
    sendAnswer(
      res.setHeader('allow', method),
      jsonError(405, 'method_not_allowed', `this address takes ${method} only`),
    )
}

const restOperations: readonly RestOperation[] = ['me', 'marketplace', 'gift', 'administrators']

/** Carries out the operation, or simulates a fault instead, and logs the result. */
function serve(runtime: Runtime, res: Response, work: Work): void {
  const fault = runtime.faults.take(work.operation, work.sid)
  const begin = { at: runtime.clock.now(), tick: performance.now() }
  const log = (given: LoggedAnswer) => addToLog(runtime, work, fault, given, begin)
  const answer = (given: Answer) => {
    log(given)
    sendAnswer(res, given)
  }
  switch (fault?.kind) {
    case 'down':
      noAnswer(res, log)
      break
    case 'drop_after_commit':
      work.respond()
      noAnswer(res, log)
      break
    case 'hang':
      log({ outcome: 'no_answer' })
      break
    case 'status':
      answer(bareStatus(fault.code, fault.retryAfter))
      break
    case 'garbage':
      answer(work.garbage())
      break
    case 'null':
      answer(nullJson())
      break
    case 'empty':
      answer(emptyJson())
      break
    case 'huge':
      log({ outcome: 'huge' })
      sendHugeBody(res)
      break
    case 'drip':
      log({ outcome: 'drip' })
      drip(res)
      break
    case 'slow':
      runtime.later(fault.ms, () => answer(work.respond()))
      break
    default:
      answer(work.respond(fault))
  }
}

const DRIP_MS = 500

/** Sends a byte of a JSON body from time to time, until the site closes the connection. */
function drip(res: Response): void {
  res.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
  const timer = setInterval(() => res.write(' '), DRIP_MS)
  res.once('close', () => clearInterval(timer))
}

/** Size of the fault `huge`: far more than any response of the platform, and than a connection holds unread. */
export const HUGE_BYTES = 20_000_000
const CHUNK_BYTES = 100_000

/** Sends a body of spaces as fast as the site reads it, so that the response finishes only if the site reads all of it. */
function sendHugeBody(res: Response): void {
  const chunk = Buffer.alloc(CHUNK_BYTES, ' ')
  const chunks = Array.from({ length: HUGE_BYTES / CHUNK_BYTES }, () => chunk)
  res.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': String(HUGE_BYTES) })
  pipeline(Readable.from(chunks), res, () => {}) // the site may close the connection
}

type LoggedAnswer = Pick<Answer, 'outcome' | 'detail' | 'sid' | 'claims'>

function noAnswer(res: Response, log: (given: LoggedAnswer) => void): void {
  log({ outcome: 'no_answer' })
  res.socket?.destroy()
}

function addToLog(
  runtime: Runtime,
  { operation, clientId, sid: asked, claims }: Work,
  fault: Fault | undefined,
  { outcome, detail, sid: found, claims: answer }: LoggedAnswer,
  begin: { readonly at: number; readonly tick: number },
): void {
  const sid = found ?? asked
  const call: Call = {
    at: runtime.now(),
    operation,
    clientId,
    sid,
    claims,
    outcome,
    ...(detail === undefined ? {} : { detail }),
    ...(fault === undefined ? {} : { fault: fault.kind }),
  }
  runtime.log.add(call)
  const session = sid === null ? undefined : runtime.world.sessions.get(sid)
  runtime.traces.add({
    at: begin.at,
    tick: begin.tick,
    durationMs: performance.now() - begin.tick,
    sid,
    browser: session && browserKey(session),
    accountId: session?.status === 'loggedin' ? session.accountId : undefined,
    call,
    answer,
  })
  runtime.changed()
}

function sendAnswer(res: Response, { status, headers, body }: Answer): void {
  // Written without Express, which would add a charset and an ETag.
  res.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) }).end(body)
}

/** Returns the query as received, undecoded. */
function rawQuery({ originalUrl }: Request): string {
  const start = originalUrl.indexOf('?')
  return start < 0 ? '' : originalUrl.slice(start + 1)
}

function browserOf(req: Request): string | undefined {
  const pairs = (req.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(`${BROWSER_COOKIE}=`))?.slice(BROWSER_COOKIE.length + 1)
}

/**
 * Parses the body if the content type is JSON.
 * @returns undefined for other types and for invalid JSON
 */
function jsonBody(req: Request): unknown {
  const body: unknown = req.body
  if (!Buffer.isBuffer(body) || !req.is('application/json')) return undefined
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** Parses the fields of a form. A repeated field becomes a list, which every operation refuses. */
function formBody(req: Request): Record<string, unknown> {
  const body: unknown = req.body
  if (!Buffer.isBuffer(body) || !req.is('application/x-www-form-urlencoded')) return {}
  const form = new URLSearchParams(body.toString('utf8'))
  return Object.fromEntries([...form.keys()].map((name) => [name, onlyValue(form.getAll(name))]))
}

function onlyValue(values: readonly string[]): unknown {
  return values.length === 1 ? values[0] : values
}

/** Responds to refusals of controls, and to errors of Express and the body readers, with short JSON, never with a stack. */
function answerError(error: unknown, _req: Request, res: Response, _next: NextFunction): void {
  if (error instanceof ControlError) sendAnswer(res, jsonError(error.httpStatus, error.code, error.message))
  else sendAnswer(res, refusals.get(Object(error).status) ?? ownFault)
}

/** Errors of Express and of the body readers, by status. */
const refusals = new Map([
  [400, jsonError(400, 'bad_request', 'bad request')],
  [413, jsonError(413, 'bad_request', 'the body is too large')],
  [415, jsonError(415, 'bad_request', 'the body is encoded in a way that is not taken')],
])
const ownFault = jsonError(500, 'internal_error', 'the emulator has a fault of its own')
