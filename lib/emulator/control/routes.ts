/** The controls over HTTP, under `/_emulator`. Contract: section 9. */
import express, { type Request, type RequestHandler, type Response, Router } from 'express'
import { z } from 'zod'
import { problemsOf } from '../config/schema'
import { faultSchema } from '../faults/rules'
import type { Runtime } from '../runtime'
import {
  type AccountControl,
  accountControl,
  exportOptions,
  pruneSession,
  terminateSession,
  viewAccounts,
  viewSessions,
} from './actions'
import { events } from './events'
import { sameOriginOnly } from './guard'

/** A control that was refused: becomes an answer in the one error shape. */
class ControlError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** All controls as a router. */
export function controlRouter(runtime: Runtime): Router {
  const router = Router()
  router.use(sameOriginOnly, express.json({ limit: '64kb' }))
  addState(router, runtime)
  addAccounts(router, runtime)
  addSessions(router, runtime)
  addFaults(router, runtime)
  return router
}

function addState(router: Router, runtime: Runtime): void {
  router.get(
    '/ready',
    control(() => ({ ready: true })),
  )
  router.get(
    '/clock',
    control(() => clockView(runtime)),
  )
  router.post(
    '/clock',
    control((req) => {
      runtime.clock.advance(read(z.strictObject({ advance: z.number().min(0).max(1e9) }), req).advance)
      return clockView(runtime)
    }),
  )
  router.get(
    '/calls',
    control((req) => {
      const query = new URLSearchParams(req.originalUrl.split('?', 2)[1])
      const value = (name: string) => query.get(name) ?? undefined
      const filter = { operation: value('operation'), sid: value('sid'), clientId: value('clientId') }
      return { calls: runtime.log.list(filter) }
    }),
  )
  router.get(
    '/export',
    control(() => exportOptions(runtime)),
  )
  router.post(
    '/reset',
    control(() => {
      runtime.reset()
      return { reset: true }
    }),
  )
  router.get('/events', events(runtime))
}

function clockView(runtime: Runtime) {
  return { now: runtime.clock.now(), aheadSeconds: runtime.aheadSeconds() }
}

function addAccounts(router: Router, runtime: Runtime): void {
  const account = (username: string | undefined): AccountControl => {
    const found = accountControl(runtime, username ?? '')
    if (!found) throw new ControlError(404, 'account_not_found', 'no account has this user name')
    return found
  }
  const changes = z.strictObject({ active: z.boolean().optional(), password: z.string().min(1).optional() })
  router.get(
    '/accounts',
    control(() => ({ accounts: viewAccounts(runtime) })),
  )
  router.patch(
    '/accounts/:username',
    control((req) => account(param(req, 'username')).set(read(changes, req))),
  )
  router.post(
    '/accounts/:username/freeze',
    control((req) => account(param(req, 'username')).freeze()),
  )
  router.post(
    '/accounts/:username/unfreeze',
    control((req) => account(param(req, 'username')).unfreeze()),
  )
  router.post(
    '/accounts/:username/logout-all',
    control((req) => ({ ended: account(param(req, 'username')).logoutAll() })),
  )
  router.post(
    '/otps',
    control((req) => account(read(z.strictObject({ username: z.string() }), req).username).issueOtp()),
  )
}

function addSessions(router: Router, runtime: Runtime): void {
  const orNotFound = (isThere: boolean, done: object): object => {
    if (!isThere) throw new ControlError(404, 'session_not_found', 'no session has this ID')
    return done
  }
  router.get(
    '/sessions',
    control(() => ({ sessions: viewSessions(runtime) })),
  )
  router.delete(
    '/sessions/:sid',
    control((req) => orNotFound(pruneSession(runtime, param(req, 'sid')), { pruned: true })),
  )
  router.post(
    '/sessions/:sid/terminate',
    control((req) => orNotFound(terminateSession(runtime, param(req, 'sid')), { terminated: true })),
  )
}

function addFaults(router: Router, runtime: Runtime): void {
  router.get(
    '/faults',
    control(() => ({ faults: runtime.faults.list() })),
  )
  router.post('/faults', (req, res) => {
    respond(res, 201, () => {
      const fault = runtime.faults.add(read(faultSchema, req))
      runtime.changed()
      return fault
    })
  })
  const clear = (id: string | undefined) => {
    const cleared = runtime.faults.clear(id)
    if (!cleared && id !== undefined) throw new ControlError(404, 'fault_not_found', 'no fault has this ID')
    runtime.changed()
    return { cleared }
  }
  router.delete(
    '/faults',
    control(() => clear(undefined)),
  )
  router.delete(
    '/faults/:id',
    control((req) => clear(param(req, 'id'))),
  )
}

/** A handler of what `work` gives, as JSON. */
function control(work: (req: Request) => object): RequestHandler {
  return (req, res) => respond(res, 200, () => work(req))
}

function respond(res: Response, status: number, work: () => object): void {
  res.setHeader('cache-control', 'no-store')
  try {
    res.status(status).json(work())
  } catch (error) {
    if (!(error instanceof ControlError)) throw error
    res.status(error.status).json({ error: { code: error.code, message: error.message } })
  }
}

/** The body of a request, read by a schema; what is wrong with it is said path by path. */
function read<T>(schema: z.ZodType<T>, req: Request): T {
  const body: unknown = req.body
  const result = schema.safeParse(body)
  if (result.success) return result.data
  const problems = problemsOf(result.error).map(({ option, message }) => `${option}: ${message}`)
  throw new ControlError(400, 'bad_request', problems.join('; '))
}

function param(req: Request, name: string): string {
  const value: unknown = req.params[name]
  return typeof value === 'string' ? value : ''
}
