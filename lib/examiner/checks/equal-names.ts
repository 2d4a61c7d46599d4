/** Readers with the same name or username: what the site keeps for one of them must not reach the other. */
import { type Check, failed, need, noneOf, notTold, warning } from '../check'
import { type Account, NAME_END } from '../platform'
import type { Stage } from '../stage'
import { DATA_PAGE, dataAddress, dataForm, isStored } from './former-form'

/** A reader, and another account whose user response has the same value. */
interface Twin {
  /** The value that both have, for a sentence. */
  readonly what: string
  readonly account: Account
  /** Column of a database by which a site may find the data of a user. */
  readonly field: 'name' | 'username' | 'e-mail address'
}

/** Makes accounts with the display name and the e-mail address of a reader, and one that has got the username of the reader. */
export function twinsOf(stage: Stage, reader: Account): readonly Twin[] {
  const { username, password } = reader
  const [named, mailed, renamed] = [stage.account(), stage.account(), stage.account()]
  stage.platform.replaceUser(named, { name: reader.name + NAME_END })
  stage.platform.replaceUser(mailed, { email: `${username}@EXAMPLE.com` })
  stage.platform.passOnUsername(reader, renamed)
  return [
    { what: 'display name', field: 'name', account: { ...named, name: reader.name } },
    { what: 'e-mail address (in other letters)', field: 'e-mail address', account: mailed },
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
    if ((await stage.visit(stage.browser(), address)).text.includes(word))
      return warning(
        `the page ${data} shows the text of a reader to everybody, also to visitors who are not logged in: if this is right (comments, for example), name another page in pages.data`,
      )
    if (await isSeenBy(stage.account()))
      return failed(
        `the page ${data} shows every reader the text of this one: it is kept for all, or under a key that is the same for all (undefined, NaN)`,
      )
    await stage.logout(browser)
    const next = await stage.login(browser)
    if ((await stage.visit(browser, address)).text.includes(word))
      return failed(
        `the page ${data} shows ${next.name} the text of ${reader.name}, who has logged out in the same browser: the content of the old session is carried over`,
      )
    const problems: string[] = []
    for (const { what, field, account } of twinsOf(stage, reader)) {
      const isSeen = await isSeenBy(account)
      stage.tried(`a second reader with the same ${what}: ${isSeen ? 'sees' : 'does not see'} the text of the first`)
      if (isSeen)
        problems.push(
          `the page ${data} shows a second reader, who has the same ${what}, what the first one has stored there: the site finds data by ${field}, and not by account_id`,
        )
    }
    for (const [one, two] of stage.platform.closeAccounts) {
      const [own, other] = [one.accountId, two.accountId]
      const first = stage.browser()
      await stage.login(first, one)
      await isStored(stage, first, address, await dataForm(stage, first, address, `${word}-${own}`))
      const second = stage.browser()
      await stage.login(second, two)
      const isSeen = (await stage.visit(second, address)).text.includes(`${word}-${own}`)
      stage.tried(
        `readers with the account_id ${own} and ${other}: ${isSeen ? 'one sees the text of the other' : 'apart'}`,
      )
      if (isSeen)
        problems.push(
          `the page ${data} shows the reader with the account_id "${other}" what the one with "${own}" has stored: IDs are texts, and no numbers or words without case`,
        )
    }
    return noneOf(problems)
  },
}
