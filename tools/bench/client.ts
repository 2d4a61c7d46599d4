import http, { type IncomingMessage } from 'node:http'
import { type Cookie, CookieJar } from '../../test/support/cookie-jar'
import { browserHeaders } from './load'

/*
 * A browser that takes one step at a time over connections that stay open, so that every step of a flow can be measured alone.
 */

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })
const MAX_STEPS = 12

/** One answer. */
export interface Step {
  readonly status: number
  /** Where a redirect leads. */
  readonly location: string | undefined
  readonly body: string
}

/** @see the head of the file */
export class Client {
  readonly #jar = new CookieJar(Date.now)
  readonly #address: string
  /** Where it was last, without the query. */
  last = ''

  /** @param number gives it an address of its own, as a proxy in front of the site would tell it */
  constructor(number = 0) {
    this.#address = `198.51.${Math.floor(number / 250) % 250}.${1 + (number % 250)}`
  }

  /** One request; redirects are not followed. @param fields of a form, which makes it a POST from a page of the same site */
  async step(address: string, fields?: Readonly<Record<string, string>>): Promise<Step> {
    const url = new URL(address)
    this.last = url.origin + url.pathname
    const body = fields && new URLSearchParams(fields).toString()
    const form = {
      origin: url.origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const cookie = this.#jar.header({ url, crossSite: false, safeNavigation: true })
    const headers = {
      ...browserHeaders,
      host: url.host,
      'x-forwarded-for': this.#address,
      ...(cookie === undefined ? {} : { cookie }),
      ...(body === undefined ? {} : { ...form, 'content-length': String(Buffer.byteLength(body)) }),
    }
    const { answer, text } = await send(url, body === undefined ? 'GET' : 'POST', headers, body)
    for (const line of answer.headers['set-cookie'] ?? []) this.#jar.take(line, url)
    const { location } = answer.headers
    return {
      status: answer.statusCode ?? 0,
      location: location === undefined ? undefined : new URL(location, url).href,
      body: text,
    }
  }

  /** Follows redirects to the page at the end. */
  async visit(address: string, fields?: Readonly<Record<string, string>>): Promise<Step> {
    let step = await this.step(address, fields)
    for (let steps = 0; step.location !== undefined; steps += 1) {
      if (steps === MAX_STEPS) throw new Error('too many redirects')
      step = await this.step(step.location)
    }
    return step
  }

  /** Drops one cookie. */
  forget(name: string): void {
    this.#jar.drop((cookie) => cookie.name === name)
  }

  /** Cookies of a host as they are sent. @param later only those that are still there so many seconds from now */
  cookieHeader(origin: string, later = 0): string {
    const { hostname } = new URL(origin)
    const isKept = ({ host, expires = Number.POSITIVE_INFINITY }: Cookie) =>
      host === hostname && expires > Date.now() + later * 1000
    const kept = this.#jar.all().filter(isKept)
    return kept.map(({ name, value }) => `${name}=${value}`).join('; ')
  }
}

/** One request over a connection that stays open. */
function send(url: URL, method: string, headers: Record<string, string>, body: string | undefined) {
  const options = { host: '127.0.0.1', port: url.port, path: url.pathname + url.search, method, headers, agent }
  return new Promise<{ answer: IncomingMessage; text: string }>((resolve, reject) => {
    const request = http.request(options, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      answer.once('end', () => resolve({ answer, text })).once('error', reject)
    })
    request.once('error', reject).end(body)
  })
}

/** Does something for each, some at once. */
export async function forEach<T, R>(all: readonly T[], atOnce: number, run: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let n = next++; n < all.length; n = next++) results[n] = await run(all[n] as T)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
