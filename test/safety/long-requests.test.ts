import { type Network, startNetwork } from '../flows/network'
import { rawGet } from './cookies-raw'

/* One request of a stranger's, as long as Node.js takes one, must not keep everybody else waiting. */

let network: Network
beforeAll(async () => {
  network = await startNetwork()
})
afterAll(() => network.close())

const LENGTH = 15_000
const long = (text: string) => text.repeat(LENGTH / text.length)

const requests: [name: string, path: string, cookie: string][] = [
  ['blanks within a cookie of ours', '/', `sso2.sid=a${long(' ')}b`],
  ['tabs within a cookie of ours', '/', `sso2.sid=a${long('\t')}b`],
  ['blanks before the name of one', '/', `x${long(' ')}sso2.sid=b`],
  ['blanks behind the name of one', '/', `sso2.sid${long(' ')}x=b`],
  ['cookies without end', '/', long('sso2.sid=a;')],
  ['marks of a query at the landing page', `/sso2/landing${long('?')}`, ''],
  ['names without values at the landing page', `/sso2/landing?${long('a&')}`, ''],
  ['tokens without end at the landing page', `/sso2/landing?${long('t=a&')}`, ''],
  ['marks of a query', `/${long('?')}`, ''],
  ['slashes', long('/'), ''],
]

/** The least of three, so that a busy machine does not count. */
async function quickest(run: () => Promise<unknown>): Promise<number> {
  const took: number[] = []
  for (let tries = 0; tries < 3; tries += 1) {
    const start = performance.now()
    await run()
    took.push(performance.now() - start)
  }
  return Math.min(...took)
}

test.each(requests)('[T14] %s: answered as quickly as any other request', async (_name, path, cookie) => {
  const lines = ['Accept: */*', ...(cookie === '' ? [] : [`Cookie: ${cookie}`])]
  expect(await quickest(() => rawGet(network.morning.url, path, lines))).toBeLessThan(150)
})
