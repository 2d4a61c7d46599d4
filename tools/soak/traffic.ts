import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '../histories/agent'
import { type Dice, pick, pickBy } from '../histories/dice'
import type { Entry } from '../histories/entries'
import type { Account, Setup } from '../histories/setup'
import { comeByOnce, read } from '../histories/steps'

/** Readers with accounts; every other one only reads. */
const READERS = 240
const TICK_MS = 10
/** What has not been asked in time is not made up for beyond this many requests. */
const MOST_BEHIND = 40
const BOT = { userAgent: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', cookies: false }

const account = (username: string): Account => ({ username, password: `password-of-${username}` })
const accountsOf = (number: number) => [account(`one-${number}`), account(`other-${number}`)]

export const accounts: readonly Account[] = Array.from({ length: READERS }, (_, number) => accountsOf(number)).flat()

type Step = (agent: Agent, roll: Dice, traffic: Traffic) => Promise<unknown>

/** Weights, and what a reader does. */
const steps: readonly (readonly [number, Step])[] = [
  [26, (agent) => agent.page()],
  [8, (agent) => agent.page('/lean')],
  [18, (agent) => agent.script()],
  [3, (agent) => Promise.all([agent.page('/one'), agent.script('/two'), agent.script('/three')])],
  [6, (agent) => agent.put()],
  [5, (agent) => agent.fresh()],
  [9, (agent, roll) => agent.enter(pick(roll, agent.accounts), roll() < 0.5)],
  [1, (agent, roll) => agent.wrong(pick(roll, agent.accounts))],
  [5, (agent, roll) => (roll() < 0.5 ? agent.logout() : agent.submitLogout())],
  [0.5, (agent) => agent.logoutAll()],
  [2, (agent) => agent.steal(agent.landing)],
  [1, (agent, roll) => agent.old(roll)],
  [5, (_agent, roll, traffic) => comeByOnce(traffic.newcomer({}), roll)],
  [4, (_agent, _roll, traffic) => traffic.newcomer(BOT).page('/news', 'bot')],
  [1, (_agent, roll, traffic) => comeByOnce(traffic.newcomer({ cookies: false }), roll)],
]

/** So many requests a second to the site, by whoever is free. */
export class Traffic {
  readonly entries: Entry[] = []
  readonly agents: readonly Agent[]
  readonly #setup: Setup
  readonly #roll: Dice
  readonly #free: Agent[]
  #numbers = READERS
  #due = 0
  #underWay = 0

  constructor(setup: Setup, roll: Dice) {
    this.#setup = setup
    this.#roll = roll
    this.agents = Array.from({ length: READERS }, (_, number) => this.#agent(number, accountsOf(number), {}))
    this.#free = [...this.agents]
  }

  /** A browser that has never been here. */
  newcomer(options: ConstructorParameters<typeof Agent>[4]): Agent {
    this.#numbers += 1
    return this.#agent(this.#numbers, [], options)
  }

  /** Goes on until it is over, and until everybody has an answer. */
  async run(perSecond: number, isOver: () => boolean): Promise<void> {
    for (let last = performance.now(); !isOver(); ) {
      await sleep(TICK_MS)
      const now = performance.now()
      this.#due = Math.min(this.#due + ((now - last) / 1000) * perSecond, MOST_BEHIND)
      last = now
      while (this.#due >= 1 && this.#free.length > 0) this.#begin()
    }
    while (this.#underWay > 0) await sleep(TICK_MS)
  }

  #agent(number: number, known: readonly Account[], options: ConstructorParameters<typeof Agent>[4]): Agent {
    const note = (entry: Entry) => {
      this.entries.push(entry)
      this.#due -= entry.asked - 1
    }
    return new Agent(this.#setup, number, known, note, options)
  }

  #begin(): void {
    const [agent] = this.#free.splice(Math.floor(this.#roll() * this.#free.length), 1)
    if (!agent) return
    this.#due -= 1
    this.#underWay += 1
    const act = agent.number % 2 === 0 ? read(agent, this.#roll) : pickBy(this.#roll, steps)(agent, this.#roll, this)
    act.finally(() => {
      this.#underWay -= 1
      this.#free.push(agent)
    })
  }
}
