import { rawGet } from '../support/raw'
import { useSetup } from '../support/setup'

/* One request of a stranger's, as long as Node.js takes one, must not keep everybody else waiting. */

const setup = useSetup()

const LENGTH = 15_000
const long = (text: string) => text.repeat(LENGTH / text.length)

const requests: [name: string, path: string, cookie: string][] = [
  ['blanks within a cookie of ours', '/', `sso2.sid=a${long(' ')}b`],
  ['blanks behind the name of one', '/', `sso2.sid${long(' ')}x=b`],
  ['cookies without end', '/', long('sso2.sid=a;')],
  ['marks of a query at the landing page', `/sso2/landing${long('?')}`, ''],
  ['tokens without end at the landing page', `/sso2/landing?${long('t=a&')}`, ''],
  ['slashes', long('/'), ''],
]

const ask = (path: string, cookie: string) =>
  rawGet(setup.morning.url, path, ['Accept: */*', ...(cookie === '' ? [] : [`Cookie: ${cookie}`])])

async function time(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

/** The least of five, or of as many as a busy machine needs, in turn with requests of the same length that are nothing special: a busy machine does not count. */
test.each(requests)('[T14] %s: answered as quickly as any other request', async (_name, path, cookie) => {
  let [usual, special] = [Infinity, Infinity]
  for (let round = 0; round < 5 || (round < 50 && special >= 20 + 10 * usual); round += 1) {
    usual = Math.min(usual, await time(() => ask('/', `sso2.sid=${long('a')}`)))
    special = Math.min(special, await time(() => ask(path, cookie)))
  }
  expect(special).toBeLessThan(20 + 10 * usual)
})
