import type { Sso2Client } from '../../lib/remote/sso2'
import { outcomeOf } from '../support/faulty-server'
import { fakeClock } from './fake-clock'
import { claimsOf, device, isWell, says, useScenes } from './sso-scene'

/* What each operation sends, takes and throws, and what the client finds out by itself. */

const setup = useScenes({ timeoutMs: 5000 })

const sid = 's1'
const aid = 'the-account'
/** `claims` are those of the request, beside what all have. */
const rows = [
  {
    operation: 'authenticate',
    call: (client: Sso2Client) => client.authenticate({ sid, usr: 'ada', pwd: 'x', ...device }),
    claims: { sid, usr: 'ada', pwd: 'x', ...device },
    good: { sts: 'loggedin', at: 'a-ticket' },
    other: { sts: 'loggedin', at: 'a-ticket', sid: 's2' },
    deadlineMs: 8000,
  },
  {
    operation: 'sessionstatus',
    call: (client: Sso2Client) => client.sessionStatus({ sid, lks: 'anon', ...device }),
    claims: { sid, lks: 'anon', ...device },
    good: { sts: 'loggedin', at: 'a-ticket' },
    other: { sts: 'anon', sid: 's2' },
    deadlineMs: 500,
  },
  {
    operation: 'logout',
    call: (client: Sso2Client) => client.logout({ sid, ...device }),
    claims: { sid, ...device },
    good: { sts: 'terminated' },
    other: { sts: 'terminated', sid: 's2' },
    deadlineMs: 3000,
  },
  {
    operation: 'logoutall',
    call: (client: Sso2Client) => client.logoutAll({ aid, ...device }),
    claims: { aid, ...device },
    good: { sts: 'terminated', aid },
    other: { sts: 'terminated', aid: 'another' },
    deadlineMs: 3000,
  },
]

test.each(rows)('$operation posts its claims as JSON and is answered', async ({ operation, call, claims, good }) => {
  const { server, client } = await setup(says(good))
  const { aid: _account, ...answer } = { ...good, aid }
  expect(await call(client)).toMatchObject(answer)
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  expect(server.seen).toMatchObject([{ method: 'POST', url: `/${operation}`, headers }])
  expect(Object.keys(JSON.parse(server.seen[0]?.body ?? ''))).toEqual(['t'])
  const common = { cid: 'the-site', iss: 'the-publisher', aud: 'sso-service' }
  const times = { iat: expect.any(Number), nbf: expect.any(Number), exp: expect.any(Number) }
  expect(claimsOf(server.seen[0]?.body ?? '')).toEqual({ ...common, ...claims, ...times })
})

test.each(rows)('$operation is given up after $deadlineMs ms', async ({ operation, call, deadlineMs }) => {
  const { client } = await setup(() => {}, { timeoutMs: 500 })
  const { pass, settle, expectSilence } = fakeClock()
  expectSilence()
  const outcome = outcomeOf(call(client))
  await settle()
  await pass(deadlineMs - 1)
  expect(outcome()).toBeUndefined()
  await pass(1)
  expect(outcome()).toMatchObject({ operation, message: `${operation}: no answer within ${deadlineMs} ms` })
})

/* Who watches. */

/** What the watch was told. */
function watching() {
  const told: unknown[] = []
  const watch = {
    failed: (operation: string, error: unknown) => void told.push([operation, String(error)]),
    succeeded: () => void told.push('succeeded'),
  }
  return { told, watch }
}
const saidBy = (error: string) => expect.stringContaining(error)

test('a watch is told of each call that fails, of a refusal of our tokens, and of each Session Status that works', async () => {
  fakeClock() // or a probe in the background fails meanwhile on a busy machine, and is told too
  const { told, watch } = watching()
  const { server, client, ask, logIn } = await setup(isWell, { watch })
  await ask()
  expect(told).toEqual(['succeeded'])
  server.become(says({ err: 'invalid_token', sts: null }))
  await ask()
  server.become((res) => res.end())
  await logIn()
  expect(told.slice(1)).toEqual([
    ['sessionstatus', saidBy('sessionstatus: invalid_token')],
    ['authenticate', saidBy('authenticate: the body is not a JSON object')],
  ])
  client.close()
})
