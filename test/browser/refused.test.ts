import express, { type Request } from 'express'
import type { Browser as Chromium, Page } from 'playwright-core'
import type { Sso2 } from '../../lib'
import { TEXTS } from '../../lib/config/texts'
import { openBrowser } from '../support/browser'
import { loggerTo } from '../support/log-lines'
import { ada, addPages, eventually, type Gates } from '../support/setup'
import { type RunningSite, startSite } from '../support/site'

/* What a person sees in Chromium after a request that the package refuses. */

let setup: RunningSite
let chromium: Chromium
let page: Page
const log: string[] = []

function build(sso: Sso2, gates: Gates) {
  const app = express()
  app.get('/pay', (req, res) => {
    const { to } = req.query // a payment provider: the same server under the name of another site
    res.send(`<form method="post" action="${to}"><button>Paid</button></form>`)
  })
  app.use(sso)
  const bag = (req: Request) => req.session as unknown as Record<string, unknown>
  app.get('/basket', (req, res) => {
    if (req.query['put']) bag(req)['book'] = req.query['put']
    res.send(`basket ${bag(req)['book'] ?? 'empty'}, paid ${req.query['paid'] ?? 'no'}`)
  })
  app.post('/paid', (req, res) => {
    bag(req)['paid'] = 'yes'
    res.redirect(303, '/basket?paid=order-7')
  })
  app.get('/write', sso.requireLogin(), (_req, res) => {
    res.send('<form method="post" action="/letters"><textarea name="text"></textarea><button>Send</button></form>')
  })
  app.post('/letters', sso.requireLogin(), express.urlencoded(), (req, res) => void res.send(`letter ${req.body.text}`))
  app.get('/frame', sso.requireLogin(), (_req, res) => void res.send('inside'))
  app.get('/front', (_req, res) => void res.send('<iframe src="/frame"></iframe>'))
  app.get('/news', (req, res) => void res.set('cache-control', 'max-age=60').send(`news for ${req.sso2.status}`))
  return addPages(app, sso, gates)
}

beforeAll(async () => {
  chromium = await openBrowser()
  setup = await startSite({ build, options: { logger: loggerTo(log) } })
})
afterAll(async () => {
  await chromium?.close()
  await setup?.close()
})
beforeEach(async () => {
  page = await (await chromium.newContext()).newPage()
})
afterEach(() => page.context().close())

const at = (path: string) => setup.url + path
const body = () => page.textContent('body')

async function fillLogin(on = page): Promise<void> {
  await on.fill('[name=username]', ada.username)
  await on.fill('[name=password]', ada.password)
  await Promise.all([on.waitForNavigation(), on.click('button')])
}

test('a letter that is sent after the session has ended is not lost: log in in a new tab, go back, send it again', async () => {
  await page.goto(at('/write'))
  await fillLogin()
  await page.fill('textarea', 'Dear editor')
  for (const { sid } of setup.emulator.sessions()) setup.emulator.terminate(sid)
  setup.emulator.clock.advance(361)
  await page.click('button')
  await page.waitForURL(at('/letters'))
  expect(await body()).toContain(TEXTS.en.login_required_form)
  const [tab] = await Promise.all([page.context().waitForEvent('page'), page.click('main a')])
  await tab.waitForLoadState()
  await fillLogin(tab)
  expect(tab.url()).toBe(at('/write'))
  await page.goBack()
  expect(await page.inputValue('textarea')).toBe('Dear editor')
  await page.click('button')
  await page.waitForURL(at('/letters'))
  expect(await body()).toBe('letter Dear editor')
})

test('a guarded page in a frame of the site shows the page with the link to the login', async () => {
  await page.goto(at('/front'))
  const frame = page.frameLocator('iframe')
  expect(await frame.locator('main').textContent()).toContain(TEXTS.en.login_required)
  expect(await frame.locator('main a').getAttribute('href')).toBe(at('/login?return_to=%2Ffront'))
})

test('the form of a payment provider leaves session and basket as they are, and the log says so', async () => {
  await page.goto(at('/basket?put=novel'))
  await page.goto(at('/basket'))
  expect(await body()).toBe('basket novel, paid no')
  const provider = setup.url.replace('morning.localhost', '127.0.0.1')
  await page.goto(`${provider}/pay?to=${encodeURIComponent(at('/paid'))}`)
  await page.click('button')
  await page.waitForURL(at('/basket?paid=order-7'))
  expect(await body()).toBe('basket novel, paid order-7')
  expect(log.filter((line) => line.includes('A form of another site'))).toHaveLength(1)
})

test.each(['prefetch', 'prerender', 'link'])(
  'a page that Chromium loads in advance (%s) has its user after the click',
  async (kind) => {
    await page.goto(at('/news'))
    await page.context().clearCookies()
    const statuses: number[] = []
    setup.server.prependListener('request', (req, res) => {
      if (req.headers['sec-purpose']) res.once('finish', () => statuses.push(res.statusCode))
    })
    const rules = JSON.stringify({ [kind]: [{ source: 'list', urls: [`/news?${kind}`], eagerness: 'immediate' }] })
    const script = `<script type="speculationrules">${rules}</script>`
    const hint = kind === 'link' ? `<link rel="prefetch" href="/news?${kind}">` : script
    const added = JSON.stringify(`${hint}<a href="/news?${kind}">next</a>`)
    await page.evaluate(`document.body.append(document.createRange().createContextualFragment(${added}))`)
    await eventually(async () => statuses.length > 0)
    expect(statuses).toEqual([503])
    await page.click('a')
    await page.waitForURL(new RegExp(`news\\?${kind}$`))
    expect(await body()).toBe('news for anon')
  },
)
