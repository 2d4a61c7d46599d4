import { Browser } from '../../lib/examiner/browser'
import { Chromium } from '../../lib/examiner/chromium'
import { findChromium } from '../support/browser'
import { beside } from './beside'

/* What a browser of the examiner gets through a real Chromium. */

/** Fetches both at once: the examiner takes a page for ready when nothing is fetched for half a second. */
const script = `<a href=/next>Next</a><script>
Promise.allSettled([fetch('/cut'), fetch('/data')]).then(() => history.pushState({}, '', '/?moved'))
</script>`

let chromium: Chromium
let env: jest.ReplaceProperty<NodeJS.ProcessEnv>
beforeAll(async () => {
  env = jest.replaceProperty(process, 'env', { ...process.env, CHROMIUM_PATH: findChromium() })
  chromium = await Chromium.start('the examiner')
})
afterAll(() => {
  env.restore()
  return chromium?.close()
})

test('a page that a script has moved, pages without an answer, and no page', () =>
  beside(
    (req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://site')
      if (pathname === '/cut') return res.writeHead(200, { 'content-length': 9 }).write('cut', () => res.destroy())
      if (pathname === '/dead') return res.destroy()
      if (pathname === '/none') return res.writeHead(204).end()
      if (pathname === '/away') return res.writeHead(302, { location: '/dead' }).end()
      return res.writeHead(200, { 'content-type': 'text/html' }).end(script)
    },
    async ({ siteUrl }) => {
      const seen: string[] = []
      const browser = new Browser(
        'A',
        ({ method, url, status }) => seen.push(`${method} ${url.pathname} ${status}`),
        {},
        chromium,
      )
      const other = () => new Browser('B', () => {}, {}, chromium)
      const moved = await browser.open(`${siteUrl}/`)
      expect([moved.url.search, moved.status, moved.words, seen]).toEqual([
        '?moved',
        200,
        'Next',
        ['GET / 200', 'GET /data 200'],
      ])
      const dead = await other().open(`${siteUrl}/away`)
      expect([dead.url.pathname, dead.status, dead.error, dead.hops[0]?.status]).toEqual([
        '/dead',
        0,
        'net::ERR_EMPTY_RESPONSE',
        302,
      ])
      await expect(other().open(`${siteUrl}/none`)).rejects.toThrow('Chromium has opened no page')
      await expect(other().open('http://[')).rejects.toThrow('invalid URL')
    },
  ))
