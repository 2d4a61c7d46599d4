import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendCall } from '../../lib/remote/http'
import { type Front, startFront } from '../support/front'

/*
 * A firewall or a NAT forgets idle connections and tells neither side. A call that meets such a connection waits for all of its time, and a
 * login fails, though nothing is wrong any more. So no connection is used that has been idle for long, whatever the server offers.
 */

const IDLE_MS = 5000
const server = http.createServer({ keepAliveTimeout: 60_000 }, (_req, res) => void setTimeout(() => res.end('{}'), 50))
let front: Front

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  front = await startFront((server.address() as AddressInfo).port)
})
afterAll(async () => {
  await front.down()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

const call = () =>
  sendCall({ operation: 'token', url: `http://127.0.0.1:${front.port}/`, method: 'POST', body: '{}', timeoutMs: 3000 })

test(
  'a call does not meet a connection that went silent while it was idle',
  async () => {
    await Promise.all([call(), call(), call()])
    front.silence()
    await sleep(IDLE_MS)
    const answers = await Promise.all([call(), call(), call(), call()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  },
  IDLE_MS + 10_000,
)
