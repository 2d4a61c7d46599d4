import http from 'node:http'
import express5, { type Express } from 'express'
import type { Browser } from './agent'
import { send } from './http'
import { present, type Setup, visitor } from './setup'

export const express4 = require('express4') as typeof express5
export const expresses: readonly [string, typeof express5][] = [
  ['Express 4', express4],
  ['Express 5', express5],
]

/** What a browser sends with a navigation. */
export const documentHeaders = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
}

/** Several applications before one `sso2()`: the header `x-app` names one, else the first answers. */
export function severalApps(apps: ReadonlyMap<string, Express>): http.RequestListener {
  const [first] = apps.values()
  return (req, res) => (apps.get(String(req.headers['x-app'])) ?? present(first))(req, res)
}

export interface Asked {
  method?: string
  /** Goes out as it is. */
  path: string
  headers?: Record<string, string>
  body?: string
  /** Which application answers, where there are several. */
  app?: string | undefined
}

export type Answered = Awaited<ReturnType<typeof ask>>

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 })

/** Sends one request over a kept connection and follows nothing. */
export async function ask(site: string, { method = 'GET', path, headers, body, app }: Asked) {
  const all = { ...(app === undefined ? {} : { 'x-app': app }), ...headers }
  const answer = await send({ method, url: new URL(site), path, headers: all, body, agent })
  return { ...answer, location: answer.headers.location }
}

/** Sends a form as a page of the site does. */
export function postForm(site: string, path: string, fields: string, asked: Partial<Asked> = {}): Promise<Answered> {
  const headers = {
    ...documentHeaders,
    'sec-fetch-site': 'same-origin',
    origin: new URL(site).origin,
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(fields)),
    ...asked.headers,
  }
  return ask(site, { ...asked, method: 'POST', path, body: fields, headers })
}

export const percentEncoded = (value: string) =>
  [...Buffer.from(value)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

/** What the hidden field of a form of ours holds. */
export function hiddenReturnTo(page: string): string {
  const value = present(/name="return_to" value="([^"]*)"/.exec(page)?.[1])
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" }
  return value.replace(/&([^;]+);/g, (all, name: string) => names[name] ?? all)
}

/** The `r` inside an Identify address; `undefined` for any other address. */
export function returnAddressIn(setup: Setup, location: string | undefined): string | undefined {
  if (location === undefined || !location.startsWith(`${setup.emulator.url}/sso/`)) return undefined
  return new URL(location).searchParams.get('r') ?? undefined
}

/** Cookies that a browser has for the morning site after its first visit. */
export async function anonymousCookies(setup: Setup): Promise<string> {
  return cookieHeader(await visitor(setup), setup.morning.url)
}

/** The cookies of one site in a browser, as they are sent. */
export function cookieHeader({ cookies }: Browser, site: string): string {
  const { hostname } = new URL(site)
  return cookies
    .filter(({ host }) => host === hostname)
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')
}

/** Runs over all values, some at once; returns what each came to, in order. */
export async function forAll<T, R>(values: readonly T[], run: (value: T) => Promise<R>, width = 8): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async () => {
    for (let index = next++; index < values.length; index = next++) results[index] = await run(values[index] as T)
  }
  await Promise.all(Array.from({ length: width }, worker))
  return results
}
