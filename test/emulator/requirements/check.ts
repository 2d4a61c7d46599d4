import type { Platform, Visitor } from '../platform'

/** One requirement of the specification, held against a platform that was just reset. */
export interface Check {
  /** The table or section that the requirement stands in. */
  table: string
  name: string
  run(platform: Platform): Promise<void>
}

type Login = Awaited<ReturnType<Platform['login']>>

export function requirementsOf(table: string) {
  const check = (name: string, run: Check['run']): Check => ({ table, name, run })
  /** Of the anonymous session of a new browser. */
  const anonymous = (name: string, run: (platform: Platform, sid: string, visitor: Visitor) => Promise<void>) =>
    check(name, async (platform) => {
      const visitor = platform.browser()
      const { sid } = await visitor.identify()
      await run(platform, sid, visitor)
    })
  /** Of a session in which Ada has logged in. */
  const loggedIn = (name: string, run: (platform: Platform, login: Login) => Promise<void>) =>
    check(name, async (platform) => run(platform, await platform.login()))
  return Object.assign(check, { anonymous, loggedIn })
}
