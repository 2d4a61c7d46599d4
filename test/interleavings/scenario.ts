import { type ActionName, actions, type StateName, states } from './actions'
import type { SiteKind } from './site'
import type { Tab } from './world'

/** What one actor does, one action after the other. */
interface Part {
  readonly tab: Tab
  readonly acts: readonly ActionName[]
}

/** A state, and what is done at once. */
export interface Scenario extends SiteKind {
  /** As it is written: `known:landing2|landing1+logout`. */
  readonly name: string
  readonly state: StateName
  readonly parts: readonly Part[]
  /** Redis takes no writes while the actors act. */
  readonly isReadOnly: boolean
}

const isState = (name: string): name is StateName => Object.hasOwn(states, name)
const isAction = (name: string): name is ActionName => Object.hasOwn(actions, name)

/** Reads a scenario: README.md has the words. */
export function readScenario(name: string): Scenario {
  const words = name.split('/')
  const has = (word: string) => words.includes(word)
  const [state = '', list = ''] = (words.at(-1) ?? '').split(':')
  if (!isState(state)) throw new Error(`there is no state ${state}`)
  const parts = list.split('|').map((text, index) => {
    const browser = text.startsWith('b2.') ? 'b2' : 'b1'
    const acts = text.replace(/^b2\./, '').split('+')
    for (const act of acts) if (!isAction(act)) throw new Error(`there is no action ${act}`)
    return { tab: { browser, process: has('one') ? 0 : index % 2 }, acts: acts.filter(isAction) }
  })
  return { name, state, parts, isOwnSession: has('own'), hasLimits: has('limits'), isReadOnly: has('readonly') }
}

/** All that is done in a scenario. */
export const doings = ({ parts }: Scenario): ActionName[] => parts.flatMap(({ acts }) => acts)
