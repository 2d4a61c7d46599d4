import type { Agent } from './agent'
import { type Dice, pick, pickBy } from './dice'

/** What a browser does next; `others` are there to steal from. */
type Step = (agent: Agent, roll: Dice, others: readonly Agent[]) => Promise<unknown>

const account = (agent: Agent, roll: Dice) => pick(roll, agent.accounts)

/** Weights, and what is done: alone, or several things at once. */
const steps: readonly (readonly [number, Step])[] = [
  [16, (agent) => agent.page()],
  [5, (agent) => agent.page('/lean')],
  [8, (agent) => agent.script()],
  [8, (agent) => Promise.all([agent.page('/one'), agent.script('/two'), agent.page('/three')])],
  [7, (agent) => agent.put()],
  [6, (agent) => agent.fresh()],
  [20, comeIn],
  [2, (agent, roll) => twice(agent, roll)],
  [2, (agent, roll) => Promise.all([agent.login(account(agent, roll)), agent.login(account(agent, roll))])],
  [3, (agent, roll) => Promise.all([agent.login(account(agent, roll)), agent.page()])],
  [2, (agent, roll) => agent.wrong(account(agent, roll))],
  [5, (agent, roll) => leave(agent, roll, () => agent.logout())],
  [3, (agent, roll) => leave(agent, roll, () => agent.submitLogout())],
  [5, (agent, roll) => leave(agent, roll, () => leaveAmidst(agent, roll, [agent.page()]))],
  [
    4,
    (agent, roll) => leave(agent, roll, () => leaveAmidst(agent, roll, [agent.script(), agent.put(), agent.fresh()])),
  ],
  [2, (agent, roll) => Promise.all([agent.login(account(agent, roll)), agent.logout()])],
  [1, (agent) => agent.logoutAll()],
  [1, leaveEverywhere],
  [4, (agent, roll) => agent.old(roll)],
  [3, (agent, roll, others) => agent.steal(pick(roll, [agent, ...others]).landing)],
  [2, (agent) => Promise.all([agent.fresh(), agent.page(), agent.fresh()])],
]

/** While other requests are under way. Then somebody comes with the cookie of before. */
async function leaveAmidst(agent: Agent, roll: Dice, others: readonly Promise<void>[]): Promise<void> {
  await Promise.all([...others, agent.logout()])
  await agent.old(roll)
}

function twice(agent: Agent, roll: Dice): Promise<unknown> {
  const chosen = account(agent, roll)
  return Promise.all([agent.login(chosen), agent.login(chosen)])
}

/** Whoever is in seldom logs in again, or as somebody else. */
async function comeIn(agent: Agent, roll: Dice): Promise<void> {
  await (agent.last === undefined || roll() < 0.2 ? agent.enter(account(agent, roll), roll() < 0.4) : agent.page())
}

/** Whoever has no session has little to leave, and does so now and then. Somebody may have copied the cookie before. */
async function leave(agent: Agent, roll: Dice, logout: () => Promise<void>): Promise<void> {
  await (agent.hasSession || roll() < 0.1 ? logout() : agent.page())
  if (roll() < 0.3) await agent.old(roll)
}

/** Two browsers are in with one account, and one of them ends that everywhere. */
async function leaveEverywhere(agent: Agent, _roll: Dice, others: readonly Agent[]): Promise<void> {
  const both = agent.accounts.at(-1)
  const isIn = ({ accounts }: Agent) => accounts.some(({ username }) => username === both?.username)
  const partner = others.find((other) => other !== agent && isIn(other))
  if (both) await Promise.all([agent.enter(both, false), partner?.enter(both, false)])
  await agent.logoutAll()
  await partner?.page()
}

/** One step of a browser that does anything. */
export function doAnything(agent: Agent, roll: Dice, others: readonly Agent[]): Promise<unknown> {
  const isStuck = agent.degraded === 'logout_pending' && roll() < 0.4
  return isStuck ? agent.page('/login', 'form') : pickBy(roll, steps)(agent, roll, others)
}

const reading: readonly (readonly [number, Step])[] = [
  [5, (agent) => agent.page()],
  [3, (agent) => agent.script()],
  [2, (agent) => agent.page('/lean')],
  [2, (agent) => agent.put()],
  [5, (agent) => Promise.all([agent.script('/one'), agent.page('/two'), agent.script('/three'), agent.page('/four')])],
]

/** One step of a reader who logs in where nobody is, and then only reads. */
export async function read(agent: Agent, roll: Dice): Promise<void> {
  if (agent.last === undefined && roll() < 0.3) await agent.enter(account(agent, roll), roll() < 0.5)
  await pickBy(roll, reading)(agent, roll, [])
}

/** A visitor who has never been here: a person, a browser that keeps no cookie, or a search engine. */
export async function comeByOnce(agent: Agent, roll: Dice): Promise<void> {
  await agent.page()
  if (roll() < 0.5) await agent.script()
}
