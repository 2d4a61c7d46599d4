/** Controls a real Chromium for `--browser`: opens pages and sends forms with scripts. Needs playwright-core, which is optional. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import type { Cookies } from './cookies'
import type { Form } from './html'

/** Types of playwright-core. They are defined here, because the package is not a dependency. */
interface PlaywrightRequest {
  url(): string
  method(): string
  resourceType(): string
  postData(): string | null
  frame(): object
  failure(): { errorText: string } | null
}
interface PlaywrightResponse {
  url(): string
  status(): number
  text(): Promise<string>
  allHeaders(): Promise<Record<string, string>>
  headersArray(): Promise<{ name: string; value: string }[]>
  request(): PlaywrightRequest
}
interface PlaywrightCookie {
  readonly name: string
  readonly value: string
  readonly domain: string
  readonly path: string
}
interface PlaywrightPage {
  on(event: 'response', listener: (response: PlaywrightResponse) => void): void
  on(event: 'requestfailed', listener: (request: PlaywrightRequest) => void): void
  mainFrame(): object
  goto(url: string, options: object): Promise<unknown>
  content(): Promise<string>
  url(): string
  fill(selector: string, value: string): Promise<void>
  locator(selector: string): { press(key: string): Promise<void>; first(): { press(key: string): Promise<void> } }
  waitForLoadState(state: string, options: object): Promise<void>
}
interface PlaywrightContext {
  newPage(): Promise<PlaywrightPage>
  cookies(): Promise<PlaywrightCookie[]>
  clearCookies(): Promise<void>
  addCookies(cookies: readonly PlaywrightCookie[]): Promise<void>
  close(): Promise<void>
}
interface PlaywrightBrowser {
  newContext(options: object): Promise<PlaywrightContext>
  close(): Promise<void>
}
interface Playwright {
  readonly chromium: { launch(options: object): Promise<PlaywrightBrowser>; executablePath(): string }
}

/** A response that Chromium got, or the reason for the missing response. */
export interface LoadedResponse {
  readonly url: URL
  readonly method: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly setCookie: readonly string[]
  readonly text: string
  readonly fields: Readonly<Record<string, string>>
  /** The reason for the missing response, or an empty text. */
  readonly error: string
}

/** The page that Chromium shows at last, with every document and fetch call until then. */
export interface Loaded {
  readonly shown: LoadedResponse
  readonly responses: readonly LoadedResponse[]
}

const PATIENCE_MS = 20_000
const SETTLE_MS = 5000
/** Chromium gives a request up if another page is opened, and also if the response has no page to show. */
const ABORTED = 'net::ERR_ABORTED'

/** A running Chromium. */
export class Chromium {
  private constructor(
    private readonly browser: PlaywrightBrowser,
    private readonly userAgent: string,
  ) {}

  /**
   * Starts Chromium.
   * @throws {Error} if Chromium or playwright-core is missing
   */
  static async start(userAgent: string): Promise<Chromium> {
    const { chromium } = loadPlaywright()
    const executablePath = chromiumPath(chromium.executablePath())
    if (executablePath === undefined)
      throw new Error(
        '--browser needs Chromium: install it with npx playwright-core install chromium, or set CHROMIUM_PATH',
      )
    return new Chromium(await chromium.launch({ executablePath, args: ['--no-sandbox'] }), userAgent)
  }

  /** Opens a window with its own cookies. */
  async window(): Promise<ChromiumWindow> {
    const context = await this.browser.newContext({ userAgent: this.userAgent, ignoreHTTPSErrors: true })
    return new ChromiumWindow(context, await context.newPage())
  }

  close(): Promise<void> {
    return this.browser.close()
  }
}

/** Loads playwright-core from the working directory, or from the folder of this package. */
function loadPlaywright(): Playwright {
  for (const folder of [process.cwd(), __dirname]) {
    try {
      return createRequire(path.join(folder, 'none.js'))('playwright-core')
    } catch {
      // the next folder
    }
  }
  throw new Error('--browser needs playwright-core: install it with npm install --save-dev playwright-core')
}

function chromiumPath(own: string): string | undefined {
  const folders = String(process.env['PATH']).split(path.delimiter)
  const names = ['chromium', 'chromium-browser', 'google-chrome', 'chrome']
  const installed = folders.flatMap((folder) => names.map((name) => path.join(folder, name)))
  return [process.env['CHROMIUM_PATH'] ?? '', own, ...installed].find((file) => file !== '' && existsSync(file))
}

/** A window of Chromium, which shares its cookies with a browser of the examiner. */
export class ChromiumWindow {
  #responses: Promise<LoadedResponse | undefined>[] = []

  constructor(
    private readonly context: PlaywrightContext,
    private readonly page: PlaywrightPage,
  ) {
    page.on('response', (response) => {
      if (['document', 'fetch', 'xhr'].includes(response.request().resourceType()))
        this.#responses.push(readResponse(response))
    })
    page.on('requestfailed', (request) => {
      const error = request.failure()?.errorText
      if (request.frame() === page.mainFrame() && request.resourceType() === 'document' && error !== ABORTED)
        this.#responses.push(Promise.resolve(failedResponse(request, String(error))))
    })
  }

  /** Opens an address. */
  open(address: string, cookies: Cookies): Promise<Loaded> {
    return this.#load(cookies, async () => {
      try {
        await this.page.goto(address, { timeout: PATIENCE_MS })
        return true
      } catch (error) {
        // a response, or the reason for the missing response, says more than the error
        if (this.#responses.length === 0) throw error
        return false
      }
    })
  }

  /** Fills in a form of the open page, and sends the form with the Enter key in its last field. */
  submit(form: Form, filled: Readonly<Record<string, string>>, cookies: Cookies): Promise<Loaded> {
    return this.#load(cookies, async () => {
      const typed = form.fields.filter(({ type }) => type !== 'hidden' && type !== 'submit').map(({ name }) => name)
      const entries = Object.entries(filled).filter(([name]) => typed.includes(name))
      for (const [name, value] of entries) await this.page.fill(selectorOf(name), value)
      for (const [last] of entries.slice(-1)) await this.page.locator(selectorOf(last)).first().press('Enter')
      return true
    })
  }

  /** Does the window show the address? */
  isAt(address: string): boolean {
    return this.page.url() === address
  }

  close(): Promise<void> {
    return this.context.close()
  }

  /** Does something, and returns what the window shows then. `act` returns whether the window shows a page of the site. */
  async #load(cookies: Cookies, act: () => Promise<boolean>): Promise<Loaded> {
    await this.context.clearCookies()
    await this.context.addCookies(
      cookies.all().map(({ name, value, host, path: below }) => ({ name, value, domain: host, path: below })),
    )
    this.#responses = []
    const isShown = await act()
    await this.page.waitForLoadState('networkidle', { timeout: SETTLE_MS }).catch(() => {})
    const text = isShown ? await this.page.content() : ''
    const responses = (await Promise.all(this.#responses)).flatMap((response) => response ?? [])
    for (const { url, setCookie } of responses) cookies.take(url, setCookie)
    cookies.keep(
      (await this.context.cookies()).map(({ name, value, domain, path: below }) => ({
        name,
        value,
        host: domain,
        path: below,
      })),
    )
    const url = new URL(this.page.url())
    const last = responses.findLast((response) => response.url.href === url.href) ?? responses[responses.length - 1]
    if (!last) throw new Error('Chromium has opened no page')
    return { shown: isShown ? { ...last, url, text } : last, responses }
  }
}

const fieldsOf = (request: PlaywrightRequest) => Object.fromEntries(new URLSearchParams(request.postData() ?? ''))

/** Returns a request without a response, as the examiner's own requests do. */
function failedResponse(request: PlaywrightRequest, error: string): LoadedResponse {
  const [url, method, fields] = [new URL(request.url()), request.method(), fieldsOf(request)]
  return { url, method, status: 0, headers: {}, setCookie: [], text: '', fields, error }
}

const selectorOf = (name: string) => `[name=${JSON.stringify(name)}]`

/** Converts a response to the examiner's form. */
async function readResponse(response: PlaywrightResponse): Promise<LoadedResponse | undefined> {
  try {
    const request = response.request()
    const lines = (await response.headersArray()).filter(({ name }) => name.toLowerCase() === 'set-cookie')
    const isRedirect = response.status() >= 300 && response.status() < 400
    return {
      url: new URL(response.url()),
      method: request.method(),
      status: response.status(),
      headers: await response.allHeaders(),
      setCookie: lines.map(({ value }) => value),
      text: isRedirect ? '' : await response.text(),
      fields: fieldsOf(request),
      error: '',
    }
  } catch {
    return undefined // the window has opened another page before the response was read
  }
}
