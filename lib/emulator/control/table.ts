/** Lists every control with an immediate response. The router serves the table, and `/_emulator` shows the table. */
import type { Request } from 'express'
import { z } from 'zod'
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
import { flowOfSession } from './flows'
import { type Control, ControlError, param, readControlBody } from './request'

/** Returns the controls of an emulator. */
export function controlsOf(runtime: Runtime): Control[] {
  return [
    ...stateControls(runtime),
    ...clockControls(runtime),
    ...accountControls(runtime),
    ...sessionControls(runtime),
    ...faultControls(runtime),
  ]
}

/** Creates a row of the table. */
const controlRow =
  (method: Control['method']) =>
  (path: string, does: string, answer: Control['answer'], more: Pick<Control, 'body' | 'status'> = {}): Control => ({
    method,
    path,
    does,
    answer,
    ...more,
  })
const [get, post, patch, remove] = [controlRow('GET'), controlRow('POST'), controlRow('PATCH'), controlRow('DELETE')]

function stateControls(runtime: Runtime): Control[] {
  const reset = () => {
    runtime.reset()
    return { reset: true }
  }
  const calls = (req: Request) => ({ calls: runtime.log.list(filterOf(req)) })
  return [
    get('/ready', 'Answers 200 as soon as the emulator runs.', () => ({ ready: true })),
    get('/calls', 'The latest calls, passwords masked; ?operation=, ?sid= and ?clientId= choose among them.', calls),
    get('/export', 'The running state as a file for --config, passwords included.', () => exportOptions(runtime)),
    post('/reset', 'Back to the configuration: sessions, accounts, clock, faults and log.', reset),
  ]
}

function filterOf({ originalUrl }: Request) {
  const query = new URLSearchParams(originalUrl.split('?', 2)[1])
  const value = (name: string) => query.get(name) ?? undefined
  return { operation: value('operation'), sid: value('sid'), clientId: value('clientId') }
}

function clockControls(runtime: Runtime): Control[] {
  const view = () => ({ now: runtime.clock.now(), aheadSeconds: runtime.aheadSeconds() })
  const put = (req: Request) => {
    const mostSeconds = Math.min(1e9, 1e10 - runtime.aheadSeconds())
    const advance = z.strictObject({ advance: z.number().min(0).max(mostSeconds) })
    runtime.clock.advance(readControlBody(advance, req).advance)
    return view()
  }
  return [
    get('/clock', "The emulator's time in milliseconds.", view),
    post('/clock', 'Puts the clock forward, in seconds.', put, { body: { advance: 361 } }),
  ]
}

function accountControls(runtime: Runtime): Control[] {
  const account = (username: string): AccountControl => {
    const found = accountControl(runtime, username)
    if (!found) throw new ControlError(404, 'account_not_found', 'no account has this user name')
    return found
  }
  const named = (req: Request) => account(param(req, 'username'))
  const changes = z.strictObject({ active: z.boolean().optional(), password: z.string().min(1).optional() })
  const otp = (req: Request) =>
    account(readControlBody(z.strictObject({ username: z.string() }), req).username).issueOtp()
  const path = '/accounts/:username'
  return [
    get('/accounts', 'The accounts, without passwords.', () => ({ accounts: viewAccounts(runtime) })),
    patch(path, 'Changes an account: active, password.', (req) => named(req).set(readControlBody(changes, req)), {
      body: { active: false },
    }),
    post(`${path}/freeze`, 'Freezes an account, as too many wrong passwords do.', (req) => named(req).freeze()),
    post(`${path}/unfreeze`, 'Lifts a freeze, and forgets wrong attempts.', (req) => named(req).unfreeze()),
    post(`${path}/logout-all`, 'Ends all its sessions.', (req) => ({ ended: named(req).logoutAll() })),
    post('/otps', 'Issues a one-time password of six digits.', otp, { body: { username: 'ada' } }),
  ]
}

function sessionControls(runtime: Runtime): Control[] {
  const orNotFound = (isThere: boolean, done: object): object => {
    if (!isThere) throw new ControlError(404, 'session_not_found', 'no session has this ID')
    return done
  }
  const prune = (req: Request) => orNotFound(pruneSession(runtime, param(req, 'sid')), { pruned: true })
  const end = (req: Request) => orNotFound(terminateSession(runtime, param(req, 'sid')), { terminated: true })
  const flow = (req: Request) => {
    const found = flowOfSession(runtime, param(req, 'sid'))
    return { ...found, text: String(found) }
  }
  return [
    get('/sessions/:sid/flow', 'The steps of a session between browser, sites and platform.', flow),
    get('/sessions', 'The sessions: status, account, times.', () => ({ sessions: viewSessions(runtime) })),
    remove('/sessions/:sid', 'Forgets a session, as inactivity does.', prune),
    post('/sessions/:sid/terminate', 'Ends a session, as a logout elsewhere does.', end),
  ]
}

function faultControls(runtime: Runtime): Control[] {
  const add = (req: Request) => {
    const fault = runtime.faults.add(readControlBody(faultSchema, req))
    runtime.changed()
    return fault
  }
  const clear = (id: string | undefined) => {
    const cleared = runtime.faults.clear(id)
    if (!cleared && id !== undefined) throw new ControlError(404, 'fault_not_found', 'no fault has this ID')
    runtime.changed()
    return { cleared }
  }
  const body = { operation: 'sessionstatus', kind: 'down', times: 3 }
  return [
    get('/faults', 'The faults that are switched on.', () => ({ faults: runtime.faults.list() })),
    post('/faults', 'Switches a fault on: operation, kind, how many times.', add, { body, status: 201 }),
    remove('/faults', 'Switches all faults off.', () => clear(undefined)),
    remove('/faults/:id', 'Switches one fault off.', (req) => clear(param(req, 'id'))),
  ]
}
