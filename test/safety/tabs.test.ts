import type { FaultKind } from '../../lib/emulator'
import { type Network, startNetwork } from '../flows/network'
import type { Browser } from '../support/agent'
import { documentHeaders } from './address-support'

/* Tabs of one browser that go through Identify at once: each of them gets its page, whatever the others' answers say. */

let network: Network
let warn: jest.SpyInstance
const at = (path: string) => `${network.morning.url}${path}`

beforeEach(async () => {
  warn = jest.spyOn(console, 'warn').mockImplementation(() => {})
  network = await startNetwork({})
  await network.browser().visit(at('/page'))
})
afterEach(async () => {
  await network.close()
  warn.mockRestore()
})

interface Tab {
  url: string | undefined
  trips: number
}

const dropSession = (browser: Browser) => browser.dropCookies(({ name }) => name === 'sso2.sid')

async function hop(browser: Browser, tab: Tab): Promise<void> {
  const { url } = tab
  if (url === undefined) return
  if (url.startsWith(`${network.emulator.url}/sso/identify`)) tab.trips += 1
  const { location } = (await browser.fetchJson(url, { headers: documentHeaders })).headers
  tab.url = location && new URL(location, url).href
}

type Pace = (browser: Browser, tabs: readonly Tab[]) => Promise<void>

const paces: [name: string, pace: Pace][] = [
  [
    'whose requests leave before any answer comes',
    async (browser, tabs) => {
      await Promise.all(tabs.map((tab) => hop(browser, tab)))
      dropSession(browser)
    },
  ],
  [
    'that take turns',
    async (browser, tabs) => {
      for (const tab of tabs) {
        await hop(browser, tab)
        dropSession(browser)
      }
    },
  ],
]

const pages = (count: number) => Array.from({ length: count }, (_, index) => `/page?a=${index}`)
const starts: [name: string, paths: readonly string[]][] = [
  ['two tabs of two pages', pages(2)],
  ['two tabs of one page', ['/page?a=1', '/page?a=1']],
  ['thirty tabs', pages(30)],
]
const causes: [name: string, fault: FaultKind | undefined][] = [
  ['landing tokens are expired', { kind: 'expired' }],
  ['landing tokens are signed with another secret', { kind: 'wrong_signature' }],
  ['the session gets lost', undefined],
]

describe.each(starts)('of %s', (_name, paths) => {
  describe.each(paces)('%s', (_pace, pace) => {
    test.each(causes)('[R8] each has its page after at most three trips where %s', async (_cause, fault) => {
      const browser = network.browser()
      if (fault) network.emulator.faults.add({ operation: 'identify', ...fault })
      const tabs = paths.map((path): Tab => ({ url: at(path), trips: 0 }))
      for (let round = 0; round < 40 && tabs.some(({ url }) => url !== undefined); round += 1) await pace(browser, tabs)
      expect(tabs.filter(({ url }) => url !== undefined)).toEqual([])
      expect(tabs[0]?.trips).toBeGreaterThan(0)
      expect(Math.max(...tabs.map(({ trips }) => trips))).toBeLessThanOrEqual(3)
    })
  })
})

test('[R8] the count of a page is its own, and a browser keeps 32 of them', async () => {
  const browser = network.browser()
  const visit = async (page: number) => {
    const { trail } = await browser.visit(at(`/page?a=${page}`))
    return trail.filter(({ url }) => url.startsWith(`${network.emulator.url}/sso/identify`)).length
  }
  for (let page = 0; page < 34; page += 1) {
    if (page % 10 === 9) {
      network.emulator.faults.clear()
      await network.browser().visit(at('/page'))
    }
    network.emulator.faults.add({ operation: 'identify', kind: 'wrong_signature' })
    expect(await visit(page)).toBe(1)
    network.emulator.clock.advance(1)
  }
  const names = () => browser.cookies.map(({ name }) => name).filter((name) => name.startsWith('sso2.l'))
  expect(names()).toHaveLength(32)
  expect([await visit(32), await visit(33)]).toEqual([0, 0])
  expect(names()).toHaveLength(32)
})
