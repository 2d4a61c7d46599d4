import type { Behaviour } from '../support/faulty-server'
import { isSignedWith } from '../support/oracle'
import { device, says, tokenWith, useScenes } from './sso-scene'

/* Which of the client's secrets signs: the first, until the SSO system shows that it takes another one. */

const [old, next] = ['the old secret', 'the next secret']
/** With the usual time for a call. */
const setup = useScenes({ clientSecret: [old, next], timeoutMs: undefined })
const tokenIn = (body: string): string => JSON.parse(body).t

/** Takes tokens of one secret, and signs every answer with it. */
const takes =
  (secret: string, signsWith = secret): Behaviour =>
  (res, seen, count) => {
    const claims = isSignedWith(tokenIn(seen.body), secret) ? {} : { sts: null, err: 'invalid_token' }
    says(claims, signsWith)(res, seen, count)
  }

type Scene = Awaited<ReturnType<typeof setup>>
let server: Scene['server']
let client: Scene['client']
beforeEach(async () => {
  ;({ server, client } = await setup(takes(old)))
})

const ask = () => client.sessionStatus({ sid: 's1', lks: 'anon', ...device })
/** Which secret signed what was asked. */
const asked = () => server.seen.map(({ body }) => [old, next].findIndex((key) => isSignedWith(tokenIn(body), key)))

test('a refusal that is signed with another one is asked again with that, which signs from then on', async () => {
  server.become(takes(next))
  expect((await ask()).err).toBeUndefined()
  expect((await ask()).err).toBeUndefined()
  expect([asked(), client.secretInUse]).toEqual([[0, 1, 1], 1])
  server.become(takes(old))
  expect((await ask()).err).toBeUndefined()
  expect([asked(), client.secretInUse]).toEqual([[1, 0], 0])
})

test('a refusal that is signed with the one that was used stands', async () => {
  server.become(takes('neither', old))
  expect((await ask()).err).toBe('invalid_token')
  expect([asked(), client.secretInUse]).toEqual([[0], 0])
})

test('a system that refuses all of them is asked twice, and no more', async () => {
  server.become(takes('neither', next))
  expect((await ask()).err).toBe('invalid_token')
  expect(asked()).toEqual([0, 1])
})

test('what a browser brings changes nothing', () => {
  const token = tokenWith({ sid: 's', sts: null, at: null, err: 'invalid_token' }, next)
  expect(client.readLanding(token).err).toBe('invalid_token')
  expect(client.secretInUse).toBe(0)
})
