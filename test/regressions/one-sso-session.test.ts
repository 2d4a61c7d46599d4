import { ada, logIn } from '../flows/network'
import type { Browser } from '../support/agent'
import { basket, keepings, type Stage, startStage } from './stage'

/* Two sessions of this site may belong to one session of the SSO system: a logout of one ends the other at once. */

let stage: Stage
afterEach(() => stage.close())

const isOurs = ({ name }: { name: string }) => /^(sso2|connect)\.sid$/.test(name)
const statusOf = async (browser: Browser) => basket(await browser.fetchJson(stage.at('/basket'))).status

describe.each(keepings)('with %s', (keeping) => {
  test.each(['/logout', '/logout-all'])('[S16] %s leaves no other session of the same SSO session', async (path) => {
    stage = await startStage({ keeping })
    const browser = stage.browser()
    await logIn(browser, stage.morning, ada)
    const old = browser.cookies.filter(isOurs).map(({ name, value }) => `${name}=${value}`)
    const withOld = { headers: { cookie: old.join('; ') } }
    const statusWithOld = async () => basket(await stage.browser().fetchJson(stage.at('/basket'), withOld)).status
    browser.dropCookies(isOurs)
    await browser.visit(stage.at('/'))
    expect([await statusOf(browser), await statusWithOld()]).toEqual(['loggedin', 'loggedin'])
    const before = stage.count('sessionstatus')
    expect((await browser.fetchJson(stage.at(path), { json: {} })).json).toMatchObject({ logout: 'confirmed' })
    expect(await statusWithOld()).toBe('none')
    expect(stage.count('sessionstatus')).toBe(before) // known here, and not asked of the SSO system
  })
})
