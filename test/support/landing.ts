import diagnostics from 'node:diagnostics_channel'
import type { Sso2Event } from '../../lib'
import { type HttpAnswer, send } from './http'
import { signJwt } from './oracle'
import { parseSetCookie } from './raw'
import { eventually, present, type Setup } from './setup'

const names = ['identify', 'landing', 'check', 'login', 'logout', 'degraded']

/** Keeps every event of the package: whole ones in `messages`, and those since `clear()` as `channel outcome reason`. */
export function hearEvents() {
  const heard: string[] = []
  const messages: Sso2Event[] = []
  const listeners = names.map((name) => ({
    channel: `express-sso2:${name}`,
    listen: (message: unknown) => {
      messages.push(message as Sso2Event)
      const { outcome, reason } = message as Sso2Event
      heard.push([name, outcome, ...(reason === undefined ? [] : [reason])].join(' '))
    },
  }))
  for (const { channel, listen } of listeners) diagnostics.subscribe(channel, listen)
  return {
    heard,
    messages,
    clear: () => {
      heard.length = 0
    },
    stop: () => {
      for (const { channel, listen } of listeners) diagnostics.unsubscribe(channel, listen)
    },
  }
}

/** Asks again where the answer is "not now": a busy machine keeps Redis back, and whoever was told so was not asked about. */
export async function untilJudged<Answer extends { status: number }>(send: () => Promise<Answer>): Promise<Answer> {
  let answer: Answer | undefined
  await eventually(async () => {
    answer = await send()
    return answer.status !== 503
  })
  return present(answer)
}

/** Headers of a navigation by typing an address. */
export const document = { accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }

/** What a landing needs of a setup. */
export interface Landable {
  morning: { url: string }
}

export type Flow = Awaited<ReturnType<typeof beginFlow>>

/** Begins a visit by hand, and stops before Identify. @returns what its landing will need; the cookie is that of the binding */
export async function beginFlow({ morning }: Landable, path = '/') {
  const answer = await send({ method: 'GET', url: new URL(path, morning.url), headers: document })
  const binding = present(answer.setCookie.map(parseSetCookie).find(({ name }) => name === 'sso2.b'))
  const r = present(new URL(present(answer.headers.location)).searchParams.get('r'))
  return { cookie: `sso2.b=${binding.value}`, r }
}

/** A landing token of the morning site, signed by the tests' own signer. */
export function landingToken({ emulator }: Setup, claims: object): string {
  const { clientId, clientSecret, ssoIdentifier } = emulator.siteOptions('morning')
  const now = Math.floor(emulator.clock.now() / 1000)
  const times = { nbf: now, iat: now, exp: now + 10 }
  return signJwt(
    { iss: ssoIdentifier, aud: clientId, ...times, sts: 'anon', at: null, err: null, ...claims },
    clientSecret,
  )
}

/** Lands with a token; more cookies and headers may go along. */
export function land(
  { morning }: Landable,
  flow: Flow,
  token: string,
  cookies: string[] = [],
  headers: Record<string, string> = {},
): Promise<HttpAnswer> {
  const url = new URL('/sso2/landing', morning.url)
  url.search = String(new URLSearchParams({ t: token, r: flow.r }))
  return send({
    method: 'GET',
    url,
    headers: { ...document, ...headers, cookie: [flow.cookie, ...cookies].join('; ') },
  })
}
