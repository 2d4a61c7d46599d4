import type { RequestListener } from 'node:http'
import { type TransportResponse, transport } from '../../lib/remote/http'
import { inject } from './inject'
import { contexts, type StepInfo, type Touch } from './scheduler'

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

/** Puts the platform in place of the network. @param note takes every call down @returns what takes it away again */
export function installPlatform(app: RequestListener, note: (call: PlatformCall) => void): () => void {
  const original = transport.request
  transport.request = async (request) => {
    const context = contexts.getStore()
    if (!context) return original(request)
    const { scheduler, actor } = context
    const url = new URL(request.url)
    const operation = url.pathname.split('/').at(-1) ?? ''
    const { body } = request
    const claims = claimsOf(body)
    const mode = await scheduler.gate(actor, describe(operation, body))
    if (mode === 'fail') throw reset()
    const asked = scheduler.mark()
    const answer = await scheduler.underWay(() =>
      inject(app, {
        method: request.method,
        url: url.pathname + url.search,
        headers: { host: url.host, ...request.headers },
        body,
      }),
    )
    const told = claimsOf(answer.body)
    note({
      operation,
      sid: text(claims['sid']),
      actor: actor?.index,
      asked,
      answered: scheduler.mark(),
      sts: text(told['sts']),
      err: text(told['err']),
    })
    if (mode === 'lost') throw reset()
    return responseOf(answer)
  }
  return () => {
    transport.request = original
  }
}

const reset = () => Object.assign(new Error('ECONNRESET'), { code: 'ECONNRESET' })

function responseOf(answer: Awaited<ReturnType<typeof inject>>): TransportResponse {
  async function* body() {
    yield Buffer.from(answer.body)
  }
  return { status: answer.status, headers: new Headers(answer.headers), body: body(), discard: () => {} }
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
