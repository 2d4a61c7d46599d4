import type { Aftermath, History } from './execution'
import type { PlatformCall } from './platform-gate'
import { readScenario } from './scenario'
import type { View } from './site'
import type { Seen } from './world'

/* Words for histories that are made by hand. The actors act between marks 10 and 20; an answer is there one mark after its request. */

export const seen = (left: number, more: Partial<Seen> = {}): Seen => ({
  browser: 'b1',
  actor: 0,
  method: 'GET',
  path: '/',
  session: 'one',
  logout: undefined,
  left,
  answered: left + 0.9,
  arrived: left + 1,
  status: 200,
  location: undefined,
  view: undefined,
  as: undefined,
  isLogin: false,
  ...more,
})
const viewOf = (user: string | undefined, more: Partial<View> = {}): View =>
  user === undefined ? { status: 'anon', ...more } : { status: 'loggedin', user, ...more }
export const page = (left: number, user: string | undefined, more: Partial<Seen> = {}) =>
  seen(left, { view: viewOf(user), ...more })
const form = (left: number, path: string, more: Partial<Seen> = {}) =>
  seen(left, { method: 'POST', path, status: 303, location: '/', ...more })
export const login = (left: number, more: Partial<Seen> = {}) =>
  form(left, '/login', { as: 'ada', isLogin: true, ...more })
export const logout = (left: number, more: Partial<Seen> = {}) => form(left, '/logout', more)
export const logoutAll = (left: number, more: Partial<Seen> = {}) => form(left, '/logout-all', more)
export const identify = (left: number) => seen(left, { path: '/sso/identify', status: 302, location: '/sso2/landing' })
export const fresh = (left: number) => page(left, 'ada', { path: '/sensitive' })
/** A page that calls `check()` as soon as it is asked for, and is told "loggedin". */
export const check = (left: number, user: string | undefined, more: Partial<View> = {}) =>
  seen(left, { path: '/check', view: viewOf(user, { check: { status: 'loggedin', called: left }, ...more }) })

export const call = (operation: string, asked: number, more: Partial<PlatformCall> = {}): PlatformCall => ({
  operation,
  sid: 'sid-1',
  actor: 0,
  asked,
  answered: asked + 0.1,
  sts: 'loggedin',
  err: undefined,
  ...more,
})
export const authenticate = (asked: number, more: Partial<PlatformCall> = {}) => call('authenticate', asked, more)
export const status = (asked: number, more: Partial<PlatformCall> = {}) => call('sessionstatus', asked, more)

/** What a browser sees when all is over. */
export const after = (user: string | undefined, basket = ['book'], more: Partial<Aftermath> = {}): Aftermath => ({
  browser: 'b1',
  direct: page(21, user, { path: '/plain', actor: undefined }),
  walked: page(23, user, { view: viewOf(user, { basket }), actor: undefined }),
  later: undefined,
  ...more,
})

interface Told extends Partial<Omit<History, 'scenario' | 'world' | 'landed'>> {
  /** Who its one browser is shown when all is over, and with what in the basket; by default nobody, and the book. */
  readonly user?: string
  readonly basket?: string[]
  readonly calls?: PlatformCall[]
  readonly landed?: string[]
}

/** What was done, and what all browsers saw. */
export function history(scenario: string, while_: Seen[], told: Told = {}): History {
  const { user, basket, calls = [], landed = [], aftermath = [after(user, basket)], ...more } = told
  const looked = aftermath.flatMap(({ direct, walked, later }) => [direct, walked, ...(later ? [later] : [])])
  return {
    scenario: readScenario(scenario),
    world: { seen: [...while_, ...looked], calls },
    hasFault: false,
    acted: [10, 20],
    landed: new Set(landed),
    aftermath,
    isAnybodyIn: true,
    ...more,
  }
}
