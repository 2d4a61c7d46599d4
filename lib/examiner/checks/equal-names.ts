/** Readers with the same name or username: what the site keeps for one of them must not reach the other. */
import { type Check, need, noneOf, notTold } from '../check'
import { type Account, NAME_END } from '../platform'
import type { Stage } from '../stage'
import { DATA_PAGE, dataAddress, dataForm, isStored } from './former-form'

/** A reader, and another account whose user response has the same value. */
interface Twin {
  /** The value that both have, for a sentence. */
  readonly what: string
  readonly account: Account
  /** Column of a database by which a site may find the data of a user. */
  readonly field: 'name' | 'username'
}

/** Makes an account that has the display name of a reader, and one that has got the username of the reader. */
export function twinsOf(stage: Stage, reader: Account): readonly Twin[] {
  const { username, password } = reader
  const [named, renamed] = [stage.account(), stage.account()]
  stage.platform.replaceUser(named, { name: reader.name + NAME_END })
  stage.platform.passOnUsername(reader, renamed)
  return [
    { what: 'display name', field: 'name', account: { ...named, name: reader.name } },
    { what: 'username', field: 'username', account: { ...renamed, username, password } },
  ]
}

/** Stores a word as one reader, and looks for the word as readers with the same name and with the same username. */
export const equalNames: Check = {
  name: 'session/equal-names',
  run: async (stage) => {
    const address = dataAddress(stage)
    if (address === undefined) return notTold(['pages.data'], DATA_PAGE)
    const data = new URL(address).pathname
    const browser = stage.browser()
    const reader = await stage.login(browser)
    const word = `examined-${reader.accountId}`
    const form = await dataForm(stage, browser, address, word)
    need(
      await isStored(stage, browser, address, form),
      `the page ${data} does not show the text that its form has sent`,
    )
    const isSeenBy = async (account: Account) => {
      const other = stage.browser()
      await stage.login(other, account)
      return (await stage.visit(other, address)).text.includes(word)
    }
    need(!(await isSeenBy(stage.account())), `the page ${data} shows every reader the text of this one`)
    const problems: string[] = []
    for (const { what, field, account } of twinsOf(stage, reader)) {
      const isSeen = await isSeenBy(account)
      stage.tried(`a second reader with the same ${what}: ${isSeen ? 'sees' : 'does not see'} the text of the first`)
      if (isSeen)
        problems.push(
          `the page ${data} shows a second reader, who has the same ${what}, what the first one has stored there: the site finds data by ${field}, and not by account_id`,
        )
    }
    return noneOf(problems)
  },
}
