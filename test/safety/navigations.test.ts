import { type Network, present, startNetwork } from '../flows/network'
import { anonymousCookies, ask, documentHeaders, forAll } from './address-support'

let network: Network
let site: string
beforeAll(async () => {
  network = await startNetwork()
  site = network.morning.url
})
afterAll(() => network.close())

describe('which requests are sent to Identify', () => {
  const firefox = documentHeaders['user-agent']
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']
  const destinations = [
    '',
    'document',
    'iframe',
    'frame',
    'object',
    'embed',
    'image',
    'script',
    'style',
    'empty',
    'websocket',
    'fencedframe',
    'Document',
  ]
  const accepts = [
    '',
    'text/html,*/*;q=0.8',
    '*/*',
    'application/json',
    'image/avif,*/*',
    'application/xhtml+xml,text/html',
  ]
  const purposes: Record<string, string>[] = [
    {},
    { 'sec-purpose': 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'sec-purpose': 'prefetch;anonymous-client-ip' },
    { purpose: 'prefetch' },
    { purpose: 'preview' },
    { 'x-moz': 'prefetch' },
  ]
  const bots = [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'facebookexternalhit/1.1',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Twitterbot/1.0',
    'curl/8.5.0',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  ]

  const rows = methods.flatMap((method) =>
    destinations.flatMap((destination) =>
      accepts.flatMap((accept) =>
        (method === 'GET' ? purposes : purposes.slice(0, 1)).flatMap((purpose) =>
          (method === 'GET' && accept !== '' ? [firefox, bots[0] ?? ''] : [firefox]).map((agent) => {
            const headers = {
              'user-agent': agent,
              ...(destination && { 'sec-fetch-dest': destination }),
              ...(accept && { accept }),
              ...purpose,
            }
            const isDocument = destination === 'document' || (destination === '' && accept.startsWith('text/html'))
            const isSent = method === 'GET' && isDocument && Object.keys(purpose).length === 0 && agent === firefox
            return { method, headers, isSent }
          }),
        ),
      ),
    ),
  )

  test('[R9] are navigations of documents by people, and no others, whatever method, destination, Accept and purpose say', async () => {
    expect(rows.length).toBeGreaterThan(1000)
    const keys = new Set(await network.keys())
    const answers = await forAll(rows, ({ method, headers }) => ask(site, { method, path: '/page', headers }))
    const wrong = rows.filter(({ isSent }, index) => {
      const { status, setCookie } = present(answers[index])
      return isSent ? status !== 302 : status !== 200 || setCookie.length > 0
    })
    expect(wrong).toEqual([])
    expect(rows.filter(({ isSent }) => isSent).length).toBeGreaterThan(5)
    expect((await network.keys()).filter((key) => !keys.has(key))).toEqual([])
  })

  test.each(bots)('[R9] are none of %s', async (agent) => {
    const answer = await ask(site, { path: '/page', headers: { ...documentHeaders, 'user-agent': agent } })
    expect([answer.status, answer.setCookie]).toEqual([200, []])
    expect(JSON.parse(answer.body).status).toBe('none')
  })

  test.each([
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/150.0.0.0 Safari/537.36 HeadlessEdg/150.0.0.0',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Cypress/15.4.0 Chrome/138.0.0.0 Electron/37.6.0 Safari/537.36',
  ])('are those of a browser that a test drives: %s', async (agent) => {
    const answer = await ask(site, { path: '/page', headers: { ...documentHeaders, 'user-agent': agent } })
    expect([answer.status, new URL(present(answer.location)).pathname]).toEqual([302, '/sso/identify'])
  })

  test('[R9] are none of a bot that says besides that it is headless', async () => {
    const agent = `${bots.at(-1)} HeadlessChrome/150.0.0.0 Safari/537.36`
    const answer = await ask(site, { path: '/page', headers: { ...documentHeaders, 'user-agent': agent } })
    expect([answer.status, answer.setCookie]).toEqual([200, []])
  })

  test('[R9] are none that open a WebSocket or an event stream', async () => {
    const upgrade = {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-key': 'AAAA',
      'sec-fetch-dest': 'websocket',
    }
    for (const headers of [upgrade, { accept: 'text/event-stream', 'sec-fetch-dest': 'empty' }]) {
      const answer = await ask(site, { path: '/page', headers })
      expect([answer.status, answer.location, answer.setCookie]).toEqual([200, undefined, []])
    }
  })

  test('[R9] never become one by a session that has ended: a script gets the page', async () => {
    const cookie = await anonymousCookies(network)
    for (const { sid } of network.emulator.sessions()) network.emulator.terminate(sid) // the newest may be the site's own look at Identify
    network.emulator.clock.advance(361)
    const answer = await ask(site, { path: '/page', headers: { accept: '*/*', cookie } })
    expect([answer.status, JSON.parse(answer.body).status]).toEqual([200, 'none'])
  })
})
