import { browserCalls } from '../support/calls'
import { ada, logIn, useSetup, view } from '../support/setup'

const setup = useSetup()

const queries = [
  '',
  '?a=1&a=2&b',
  '?q=caf%C3%A9+cr%c3%a8me%20x',
  '?next=https%3A%2F%2Fother.example%2F%3Fa%3Db%26c%3Dd',
  '?filter[tag][]=one&filter[tag][]=two',
  '?percent=100%',
  '?t=token&r=return',
  '?quote=\'"<script>',
  '?plus=1+1%2B2',
  '?sso2x=mine&xsso2=too',
  `?long=${'x'.repeat(1000)}`,
]

/** All calls but redirects to Identify, and the package's own probes, which a slow redirect causes. */
const callCount = () => browserCalls(setup.emulator).filter(({ operation }) => operation !== 'identify').length

describe('a first visit', () => {
  test.each(queries)('of /a/page%s takes three redirects and ends on exactly that address', async (query) => {
    const { href, pathname, search } = new URL(`${setup.morning.url}/a/page${query}`)
    const page = await setup.browser().visit(href)
    expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
    expect(page.url).toBe(href)
    expect(view(page)).toEqual({ status: 'anon', url: pathname + search })
  })

  test("drops a visitor's own sso2 parameter and keeps the rest", async () => {
    const page = await setup.browser().visit(`${setup.morning.url}/a?x=1&sso2=mine&y=%20`)
    expect(page.url).toBe(`${setup.morning.url}/a?x=1&y=%20`)
    expect(view(page).status).toBe('anon')
  })

  test('is the only one with redirects: the next page is served at once, with no call', async () => {
    const browser = setup.browser()
    await browser.visit(`${setup.morning.url}/one`)
    const calls = callCount()
    const next = await browser.visit(`${setup.morning.url}/two`)
    expect(next.trail).toHaveLength(1)
    expect(view(next).status).toBe('anon')
    expect(callCount()).toBe(calls)
  })

  test('of a browser that is logged in at another site picks the login up', async () => {
    const browser = setup.browser()
    await logIn(browser, setup.evening, ada)
    const page = await browser.visit(`${setup.morning.url}/news?id=7`)
    expect(page.trail.map(({ status }) => status)).toEqual([302, 302, 303, 200])
    expect(view(page)).toEqual({ status: 'loggedin', username: 'ada', url: '/news?id=7' })
  })
})
