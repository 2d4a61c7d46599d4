import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { type Duplex, duplexPair } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { inject } from './inject'
import { type Context, contexts, type StepInfo, type Touch } from './scheduler'

/* The calls that sites make to the platform: each is a step, answered by the real emulator in this process. */

/** One call, as it was seen. Numbers are marks of the scheduler. */
export interface PlatformCall {
  readonly operation: string
  readonly sid: string | undefined
  readonly actor: number | undefined
  readonly asked: number
  readonly answered: number
  /** Status that the answer's Session Token tells. */
  readonly sts: string | undefined
  readonly err: string | undefined
}

const WRITING = new Set(['authenticate', 'logout', 'logoutall'])
const sso = (isWrite: boolean): Touch => ({ key: 'sso', isWrite })

/** One connection of a site, which ends in memory. */
interface Line {
  readonly context: Context | undefined
  /** Ends when the request has come, and again when its answer has been read. */
  readonly arrive: () => void
  readonly isRead: Promise<void>
}

/** Connects sites to the platform without a network between. @param note takes every call down @returns the option `agent` of a site */
export function platformAgent(app: RequestListener, note: (call: PlatformCall) => void): http.Agent {
  const lines = new WeakMap<object, Line>()
  const server = http.createServer((req, res) => {
    const line = lines.get(req.socket)
    if (line) void answer(app, note, line, req, res)
  })
  const createConnection = () => {
    const [ours, theirs] = duplexPair()
    lines.set(theirs, lineOf(ours, contexts.getStore()))
    server.emit('connection', theirs)
    return ours
  }
  return Object.assign(new http.Agent(), { createConnection })
}

function lineOf(ours: Duplex, context: Context | undefined): Line {
  let arrive = () => {}
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve
  })
  void context?.scheduler.underWay(() => arrived)
  const isRead = new Promise<void>((resolve) => ours.once('close', () => resolve()))
  return { context, arrive, isRead }
}

async function answer(
  app: RequestListener,
  note: (call: PlatformCall) => void,
  { context, arrive, isRead }: Line,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const body = (await textOf(req)) || undefined
  const { method = '', url = '' } = req
  const headers = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, String(value)]))
  const operation = url.split('?')[0]?.split('/').at(-1) ?? ''
  const gate = context?.scheduler.gate(context.actor, describe(operation, body))
  arrive()
  const mode = await gate
  if (mode === 'fail') return void req.socket.destroy()
  const claims = claimsOf(body)
  const asked = context?.scheduler.mark() ?? 0
  const work = async () => {
    const answered = await inject(app, { method, url, headers, body })
    const told = claimsOf(answered.body)
    const [sid, sts, err] = [text(claims['sid']), text(told['sts']), text(told['err'])]
    const actor = context?.actor?.index
    if (context) note({ operation, sid, actor, asked, answered: context.scheduler.mark(), sts, err })
    if (mode === 'lost') req.socket.destroy()
    else res.writeHead(answered.status, { ...answered.headers, connection: 'close' }).end(answered.body)
    await isRead
  }
  await (context ? context.scheduler.underWay(work) : work())
}

/** A ticket is taken once and needs its session; naming the user depends on nothing that anybody does here. */
function describe(operation: string, body: string | undefined): StepInfo {
  const canFail = true
  if (operation === 'token') {
    const code = new URLSearchParams(body).get('code') ?? ''
    return { label: operation, touches: [sso(false), { key: `ticket ${code}`, isWrite: true }], canFail }
  }
  if (operation === 'me') return { label: operation, touches: [], canFail }
  // to those who want a newer word it matters when a question was asked
  const asked = operation === 'sessionstatus' ? [{ key: 'questions', isWrite: true }] : []
  return { label: operation, touches: [sso(WRITING.has(operation)), ...asked], canFail }
}

/** Claims of the one token in a body, unverified: this is only for looking on. */
function claimsOf(body: string | undefined): Readonly<Record<string, unknown>> {
  try {
    const { t } = JSON.parse(body ?? '')
    return JSON.parse(Buffer.from(String(t).split('.')[1] ?? '', 'base64url').toString())
  } catch {
    return {}
  }
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
