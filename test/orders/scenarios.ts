import type { ActionName, StateName } from './actions'

/* What is tried: pairs of actors in `npm test`, more pairs and three at once in the long run. The names say it: see `readScenario`. */

/** Executions of a pair in `npm test`; more where something was found later than that, fewer where one takes long. */
const EXECUTIONS = 16
const others: Readonly<Record<string, number>> = {
  'stranger:landing1|landing2+login': 8,
  'known:landing2|landing1+logout': 10,
  'own/known:landing2|landing1+logout': 8,
  'own/known:landing1|landing2': 8,
  'own/loggedIn:logout|page': 10,
  'basket:login|login': 26,
  'basket:login|logout': 50,
  'basket:login|check': 26,
  'own/basket:login|login': 26,
  'own/basket:login|logout': 30,
  'loggedIn:logout|page': 24,
  'loggedIn:logout|login': 34,
  'loggedInLandings:logout|landing1': 30,
  'stale:page|logout': 30,
  'loggedIn:fresh|fresh': 38,
  'stale:check|fresh': 36,
  'ended:fresh|fresh': 28,
  'ended:fresh|tick+fresh': 28,
}

/** How many executions of a pair `npm test` affords: those with the fewest preemptions. */
export const executionsOf = (name: string): number => others[name] ?? EXECUTIONS

/** Pairs of `npm test`. */
export const pairs: readonly string[] = [
  // two tabs on their ways back from Identify
  'stranger:landing1|landing2',
  'stranger:landing1|landing1',
  'stranger:landing1|page',
  'stranger:landing1|save',
  'stranger:landing1|b2.landing1',
  'stranger:landing1|landing2+login',
  'known:landing1|landing2',
  'known:landing1|b2.landing1',
  'known:landing1|page',
  'known:landing2|landing1+logout',
  'known:landing2|landing1+fresh',
  'known:landing1|terminate',
  'own/known:landing1|landing2',
  'own/known:landing2|landing1+logout',
  // anonymous with a basket
  'basket:login|login',
  'basket:login|loginGrace',
  'basket:login|logout',
  'basket:login|save',
  'basket:login|page',
  'basket:login|fresh',
  'basket:login|check',
  'basket:login|expiry',
  'basket:login|terminate',
  'basketLandings:login|landing1',
  'basketLandings:logout|landing1',
  'basketLandings:save|landing1',
  'basket:logout|page',
  'basket:logout|save',
  'basket:save|expiry',
  'own/basket:login|login',
  'own/basket:login|logout',
  'own/basket:login|save',
  // logged in
  'loggedIn:logout|logout',
  'loggedIn:logout|page',
  'loggedIn:logout|save',
  'loggedIn:logout|fresh',
  'loggedIn:logout|check',
  'loggedIn:logout|login',
  'loggedIn:logout|expiry',
  'loggedIn:logout|terminate',
  'loggedInLandings:logout|landing1',
  'loggedInLandings:fresh|landing1',
  'loggedInLandings:check|landing1',
  'loggedIn:login|login',
  'loggedIn:fresh|fresh',
  'loggedIn:fresh|check',
  'loggedIn:fresh|save',
  'loggedIn:fresh|terminate',
  'loggedIn:fresh|expiry',
  'loggedIn:check|check',
  'loggedIn:check|terminate',
  'loggedIn:check|save',
  'own/loggedIn:logout|save',
  'own/loggedIn:logout|page',
  // the six-minute check
  'stale:page|page',
  'stale:page|save',
  'stale:page|fresh',
  'stale:page|check',
  'stale:page|logout',
  'stale:page|terminate',
  'stale:page|expiry',
  'stale:page|login',
  'stale:check|fresh',
  // ended at the platform
  'ended:fresh|fresh',
  'ended:fresh|tick+fresh',
  'ended:fresh|page',
  'ended:fresh|check',
  'ended:check|check',
  'ended:check|page',
  'ended:fresh|login',
  'staleEnded:page|page',
  'staleEnded:page|save',
  'staleEnded:page|fresh',
  // two browsers of one account
  'two:logoutAll|b2.page',
  'two:logoutAll|b2.save',
  'two:logoutAll|b2.fresh',
  'two:logoutAll|b2.check',
  'two:logoutAll|b2.logout',
  'twoStale:logoutAll|b2.page',
  'oneOfTwo:logoutAll|b2.login',
]

/** Pairs of the long run only: much like those above. */
export const morePairs: readonly string[] = [
  'known:landing2|landing1+logoutAll',
  'own/known:landing2|landing1+logoutAll',
  'own/basketLandings:login|landing1',
  'own/loggedIn:logout|fresh',
  'own/loggedIn:logout|logout',
  'basket:login|logoutAll',
  'basket:check|logout',
  'loggedIn:logout|logoutAll',
  'loggedIn:logoutAll|fresh',
  'loggedIn:logoutAll|check',
  'loggedIn:logoutAll|save',
  'loggedIn:logoutAll|page',
  'loggedIn:logoutAll|login',
  'loggedInLandings:logoutAll|landing1',
  'loggedInLandings:landing1|landing2',
  'loggedInLandings:login|landing1',
  'stale:page|logoutAll',
  'stale:save|logout',
  'stale:fresh|logout',
  'stale:check|logout',
  'stale:fresh|terminate',
  'stale:check|terminate',
  'stale:check|save',
  'staleEnded:page|logout',
  'staleEnded:page|login',
  'staleEnded:fresh|check',
  'two:logoutAll|b2.logoutAll',
  'twoStale:logoutAll|b2.save',
  'twoStale:page|b2.page',
  'oneOfTwo:logoutAll|b2.page',
]

/** Alone, with each store command and each call to the platform failing, and each of their answers lost. */
export const faulty: readonly string[] = [
  'basket:login',
  'basket:login+logout',
  'known:landing1',
  'known:landing1+logout',
  'loggedIn:logout',
  'loggedIn:logout+logout',
  'loggedIn:fresh',
  'loggedIn:check',
  'ended:fresh',
  'ended:check',
  'stale:page',
  'staleEnded:page',
  'two:logoutAll',
  'readonly/loggedIn:logout',
  'readonly/loggedIn:fresh',
  'readonly/ended:fresh',
  'readonly/stale:page',
  'readonly/two:logoutAll',
]

const together: readonly (readonly [StateName, readonly ActionName[]])[] = [
  ['basketLandings', ['login', 'logout', 'save', 'landing1', 'page', 'check', 'expiry']],
  ['known', ['landing1', 'landing2', 'page', 'logout', 'terminate']],
  [
    'loggedInLandings',
    ['logout', 'logoutAll', 'fresh', 'check', 'save', 'page', 'landing1', 'login', 'terminate', 'expiry'],
  ],
  ['stale', ['page', 'save', 'fresh', 'check', 'logout', 'terminate', 'tick']],
  ['ended', ['fresh', 'check', 'page', 'logout', 'tick']],
]

/** Three at once: every choice of three from what can be done together. */
export const triples: readonly string[] = together.flatMap(([state, names]) =>
  names.flatMap((one, i) =>
    names.slice(i).flatMap((two, j) => names.slice(i + j).map((three) => `${state}:${one}|${two}|${three}`)),
  ),
)
