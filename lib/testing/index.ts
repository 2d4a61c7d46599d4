/** Help for the tests of sites that use express-sso2. Needs `supertest` among the site's own development dependencies. */
import type { Express } from 'express'
import type supertest from 'supertest'
import { type Visited, Visitor } from './visitor'

export type { Hop, Visited } from './visitor'

/** Credentials, and where the site's login page is. */
export interface SignIn {
  readonly username: string
  readonly password: string
  /** Default `/login`. */
  readonly loginPath?: string
}

/**
 * Logs in for real: through Identify, the landing page and the login form, against the running emulator.
 * @returns a supertest agent that holds the site's cookies
 * @throws {Error} when the login did not work, with the status and never the password
 */
export async function signIn(
  app: Express,
  { username, password, loginPath = '/login' }: SignIn,
): Promise<ReturnType<typeof supertest.agent>> {
  const visitor = new Visitor(app)
  const form = await visitor.visit(loginPath)
  if (form.status !== 200) throw new Error(`signIn: GET ${loginPath} ended with ${form.status}`)
  const { trail } = await visitor.submit(loginPath, { username, password })
  const status = trail[0]?.status
  if (status !== 303) throw new Error(`signIn: the login was refused with ${status}`)
  return visitor.agent
}

/** Visits a path as a person with a new browser would. */
export function visit(app: Express, path: string): Promise<Visited> {
  return new Visitor(app).visit(path)
}
