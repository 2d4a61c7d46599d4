/* A site in TypeScript that uses each entry point, as somebody writes it who has nothing but the package. */
import express, { type Express } from 'express'
import {
  type DegradedReason,
  type LoginResult,
  PlatformApi,
  type Sso2,
  Sso2Client,
  Sso2ConfigError,
  type Sso2Options,
  type Sso2Request,
  sso2,
  sso2ErrorCodes,
  TokenError,
} from 'express-sso2'
import { createEmulator, demoOptions, type Emulator, type EmulatorOptions } from 'express-sso2/emulator'
import { signIn, visit } from 'express-sso2/testing'

declare module 'express-sso2' {
  interface User {
    name: string
  }
}
declare module 'express-session' {
  interface SessionData {
    basket: string[]
  }
}

const options: Sso2Options = {
  siteUrl: 'http://localhost:3000',
  session: { cookieName: 'paper.sid' },
  loadUser: async ({ accessToken, api }) => ({ accountId: String(accessToken.length), name: String(api) }),
  shouldIdentify: (request) => request.path !== '/ping',
  views: { login: ({ message = '', action, nonce }) => `<p>${message} ${action} ${nonce}</p>` },
  contentSecurityPolicy: (nonce) => `script-src 'nonce-${nonce}'`,
}

export function makeSite(emulator: Emulator): { app: Express; sso: Sso2 } {
  const sso = sso2({ ...emulator.siteOptions(), ...options, clock: emulator.clock })
  const app = express()
  app.use(sso)
  app.use('/paper', sso.session, sso.router, sso.middleware)
  app.get('/', (req, res) => {
    const greeted: Sso2Request = req.sso2
    req.session.basket = [...(req.session.basket ?? []), greeted.user?.name.toUpperCase() ?? 'stranger']
    res.json(req.session.basket)
  })
  app.get('/account', sso.requireLogin({ fresh: true }), async (req, res) => {
    const reason: DegradedReason | undefined = req.sso2.degraded
    const [administrator] = await req.sso2.api.administrators()
    res.json({ reason, since: administrator?.created })
  })
  app.post('/sign-in', express.json(), async (req, res) => {
    const result: LoginResult = await req.sso2.login(req.body)
    res.json(result.ok ? result.user.name : sso2ErrorCodes[result.error as keyof typeof sso2ErrorCodes])
  })
  return { app, sso }
}

export async function tryOut(): Promise<number> {
  const given: EmulatorOptions = { ...demoOptions(), limits: { tokenSeconds: 10 } }
  const emulator = createEmulator(given)
  const { url } = await emulator.listen(0)
  const { app, sso } = makeSite(emulator)
  const agent = await signIn(app, { username: 'ada', password: 'correct-horse' })
  await agent.get('/account').expect(200)
  const { status, trail } = await visit(app, '/')
  emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  const groups = await new PlatformApi({ apiUrl: url, accessToken: 'none' }).marketplaceGroups({ timeoutMs: 100 })
  await Promise.all([sso.close(), emulator.close()])
  return status + trail.length + groups.length
}

/** What a caller can tell apart. */
export function explain(error: unknown): string {
  if (error instanceof Sso2ConfigError) return error.problems.map(({ option }) => option).join()
  return error instanceof TokenError ? error.reason : String(error)
}

export const clients: (typeof Sso2Client)[] = [Sso2Client]
