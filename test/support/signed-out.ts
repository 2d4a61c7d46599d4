import type { Browser } from './agent'
import { untilJudged } from './landing'
import { basket, type PausableSetup } from './pausable-setup'
import { ada, view } from './setup'

/** No user is shown, neither to a script nor on a page. */
export async function expectNoUser(setup: PausableSetup, browser: Browser, pages = 4): Promise<void> {
  for (let page = 0; page < pages; page += 1) {
    const script = basket(await browser.fetchJson(setup.at('/basket')))
    expect(script).toMatchObject({ status: expect.stringMatching(/^(none|anon)$/), basket: [] })
    const seen = view(await browser.visit(setup.at(`/page-${page}`)))
    expect([seen.status, script.username, seen.username]).toEqual([
      expect.stringMatching(/^(none|anon)$/),
      undefined,
      undefined,
    ])
  }
}

/** The logout is done: no user is shown, and a new login is one like any other. */
export async function expectOver(setup: PausableSetup, browser: Browser): Promise<void> {
  await expectNoUser(setup, browser)
  await expectLoginWorks(setup, browser)
}

/** What is logged in at the SSO system. */
export const loginsAtSso = ({ emulator }: Pick<PausableSetup, 'emulator'>) =>
  emulator.sessions().filter(({ status }) => status === 'loggedin')

/** A new login with a password is one like any other; a session that has ended leads to the form once more. */
export async function expectLoginWorks(setup: PausableSetup, browser: Browser): Promise<void> {
  setup.emulator.clock.advance(8) // the form waits for the retry of an earlier logout, which is due now
  const form = await untilJudged(() => browser.visit(setup.at('/login')))
  expect([form.status, form.body.includes('name="password"')]).toEqual([200, true])
  const submit = () => browser.submit(setup.at('/login'), { ...ada, return_to: '/' })
  const first = await submit()
  const page = first.url.includes('notice=session_ended') ? await submit() : first
  expect(view(page)).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(view(await browser.visit(setup.at('/news')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  setup.emulator.clock.advance(361)
  expect(view(await browser.visit(setup.at('/later')))).toMatchObject({ status: 'loggedin', username: 'ada' })
  expect(browser.cookie('sso2.o')).toBeUndefined()
}
