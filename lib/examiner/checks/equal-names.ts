/** Readers with the same name or username: what the site keeps for one of them must not reach the other. */
import type { Browser, Page } from '../browser'
import { type Check, failed, need, noneOf, notTold } from '../check'
import { isLogin, isLogout, isLogoutAll } from '../facts'
import { type Account, NAME_END } from '../platform'
import type { Stage } from '../stage'

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

/** Stores a word with the form of the page. Returns the page afterwards, as a new page load shows it. */
async function storeWord(stage: Stage, browser: Browser, address: string, word: string): Promise<Page> {
  const { forms } = await stage.visit(browser, address)
  const isOther = (action: string, text: string) => [isLogin, isLogout, isLogoutAll].some((is) => is(action, text))
  const form = forms.find(({ method, action, text }) => method === 'POST' && !isOther(action, text))
  const typed = form?.fields.filter(({ type }) => /^(?:text|search|textarea)$/.test(type)) ?? []
  need(form && typed.length > 0, `the page ${new URL(address).pathname} has no POST form with a text field`)
  await browser.submit(form, Object.fromEntries(typed.map(({ name }) => [name, word])))
  return stage.visit(browser, address)
}

/** Stores a word as one reader, and looks for the word as readers with the same name and with the same username. */
export const equalNames: Check = {
  name: 'session/equal-names',
  run: async (stage) => {
    const { data } = stage.run.settings.pages
    if (data === undefined)
      return notTold(
        ['pages.data'],
        'a page with a form, whose text the site keeps for its user and shows to nobody else',
      )
    const address = new URL(data, stage.site.url).href
    const browser = stage.browser()
    const reader = await stage.login(browser)
    const word = `examined-${reader.accountId}`
    const page = await storeWord(stage, browser, address, word)
    need(page.text.includes(word), `the page ${data} does not show the text that its form has sent`)
    const isSeenBy = async (account: Account) => {
      const other = stage.browser()
      await stage.login(other, account)
      return (await stage.visit(other, address)).text.includes(word)
    }
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
    for (const [own, other] of CLOSE_IDS) {
      const [one, two] = [stage.account(), stage.account()]
      stage.platform.replaceUser(one, { accountId: own })
      stage.platform.replaceUser(two, { accountId: other })
      const first = stage.browser()
      await stage.login(first, one)
      await storeWord(stage, first, address, `${word}-${own}`)
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

/** IDs of different accounts, which become the same as numbers, or in a database that ignores case and accents. */
const CLOSE_IDS = [
  ['0123', '123'],
  ['77a', '77b'],
  ['9007199254740993', '9007199254740992'],
  ['examined-grace', 'Examined-Gr\u00e0ce'],
] as const
