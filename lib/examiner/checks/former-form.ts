/** A form that was opened as one user, and is sent when another one is logged in: nothing of it may become the other's. */
import type { Browser } from '../browser'
import { type Check, failedIf, need, notTold } from '../check'
import { isLoginOrLogout } from '../facts'
import type { Form } from '../html'
import type { Stage } from '../stage'
import { loggedIn } from './logged-in'

/** A form of the page `pages.data`, ready to be sent. */
export interface DataForm {
  readonly form: Form
  /** The text fields, each with the word. */
  readonly fields: Readonly<Record<string, string>>
  readonly word: string
}

export const DATA_PAGE = 'a page with a form, whose text the site keeps for its user and shows to nobody else'

/** Opens the page with the form, and fills in a word. */
export async function dataForm(stage: Stage, browser: Browser, address: string, word: string): Promise<DataForm> {
  const { forms } = await stage.visit(browser, address)
  const form = forms.find(({ method, action, text }) => method === 'POST' && !isLoginOrLogout(action, text))
  const typed = (form?.fields ?? []).filter(({ type }) => /^(?:text|search|textarea)$/.test(type))
  need(form && typed.length > 0, `the page ${new URL(address).pathname} has no POST form with a text field`)
  return { form, fields: Object.fromEntries(typed.map(({ name }) => [name, word])), word }
}

/** Sends the form, and looks whether the page has its word now. */
export async function isStored(
  stage: Stage,
  browser: Browser,
  address: string,
  { form, fields, word }: DataForm,
): Promise<boolean> {
  await browser.submit(form, fields)
  return (await stage.visit(browser, address)).text.includes(word)
}

/** Returns the address of the page `pages.data`, if examine.json names it. */
export const dataAddress = ({ run, site }: Stage): string | undefined =>
  run.settings.pages.data === undefined ? undefined : new URL(run.settings.pages.data, site.url).href

/** A form that is open while its user logs out on another site. */
interface LateForm {
  readonly sid: string
  /** Sends the form. Does the user find its word at the next login? */
  isStoredNow(): Promise<boolean>
}

/** Opens the form as a user. */
export async function lateForm(stage: Stage): Promise<LateForm | undefined> {
  const address = dataAddress(stage)
  if (address === undefined) return undefined
  const { browser, account, sid } = await loggedIn(stage)
  const { form, fields, word } = await dataForm(stage, browser, address, `examined-late-${account.accountId}`)
  const isStoredNow = async () => {
    await browser.submit(form, fields)
    const later = stage.browser()
    await stage.login(later, account)
    return (await stage.visit(later, address)).text.includes(word)
  }
  return { sid, isStoredNow }
}

/** Opens the form as one user, logs in as another one in the same browser, and sends the form. */
export const formerForm: Check = {
  name: 'session/former-form',
  run: async (stage) => {
    const address = dataAddress(stage)
    if (address === undefined) return notTold(['pages.data'], DATA_PAGE)
    const browser = stage.browser()
    const { accountId } = await stage.login(browser)
    const own = await dataForm(stage, browser, address, `examined-own-${accountId}`)
    need(await isStored(stage, browser, address, own), 'the page does not show the text that its form has sent')
    const open = await dataForm(stage, browser, address, `examined-former-${accountId}`)
    await stage.logout(browser)
    await stage.login(browser)
    return failedIf(
      await isStored(stage, browser, address, open),
      'a form that was opened as one user, and sent after another user has logged in in a second tab, is stored for the other user',
    )
  },
}
