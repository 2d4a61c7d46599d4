import { EventEmitter, once } from 'node:events'
import { createRequire } from 'node:module'
import express5, { type Express } from 'express'
import { Browser, type ScriptAnswer } from '../support/agent'
import {
  type Ask,
  around,
  commonPages,
  type Deviation,
  type Kit,
  type Page,
  type Scenario,
  type Seen,
  type SetSession,
  type StackName,
  type Step,
  type Tools,
  type Visitor,
} from './scenario'
import type { Running, Stack } from './stacks'

const express4 = createRequire(__filename)('express4') as typeof express5

export const frameworks = { 'Express 4': express4, 'Express 5': express5 } as const
export type Framework = keyof typeof frameworks

/** A request that nobody answers is an answer too. */
const DEADLINE_MS = 10_000
const NO_ANSWER: Seen = { status: 0, body: 'no answer', cookies: [], others: [], headers: {}, isExposed: false }

/** What a scenario's requests see on one stack. */
export async function play(scenario: Scenario, stack: Stack, framework: Framework, kind: Visitor): Promise<Seen[]> {
  if (scenario.hasOutage) await stack.renew()
  const visitor = await stack.visitor(kind)
  const site = startSite(scenario, stack, framework)
  const seen: Seen[] = []
  for (const step of scenario.steps) {
    stack.run(step === 'logIn' ? undefined : site)
    seen.push(...(await take(step, scenario, stack, visitor)))
  }
  stack.run(undefined)
  return seen
}

/** What ours must answer: what plain express-session answers, and what is different on purpose. */
export function expected(scenario: Scenario, plain: readonly Seen[], stack: Stack, visitor: Visitor): Seen[] {
  const answers = [...plain]
  for (const deviation of deviations(scenario, stack.name, visitor)) {
    const before = answers[deviation.at]
    if (!before) throw new Error(`there is no answer ${deviation.at}`)
    answers[deviation.at] = { ...before, ...deviation.ours }
  }
  return answers
}

/** The deviations that count for a stack and a visitor. */
export function deviations({ differs = [] }: Scenario, name: StackName, kind: Visitor): Deviation[] {
  return differs.filter(({ visitor, stacks }) => (visitor ?? kind) === kind && (stacks ?? [name]).includes(name))
}

/** Rows that say nothing, because plain express-session answers so too. */
export function idle(scenario: Scenario, plain: readonly Seen[], stack: Stack, visitor: Visitor): Deviation[] {
  return deviations(scenario, stack.name, visitor).filter(({ at, ours }) => {
    const { [at]: answer } = plain
    return JSON.stringify({ ...answer, ...ours }) === JSON.stringify(answer)
  })
}

function startSite(scenario: Scenario, stack: Stack, framework: Framework): Running {
  const tools = makeTools(stack)
  const kit: Kit = {
    express: frameworks[framework],
    mounted: stack.mounted,
    session: stack.session,
    tools,
    addPages: (app) => addPages(app, { ...commonPages, ...scenario.pages }, tools),
  }
  return {
    app: (scenario.build ?? around({}))(kit),
    upgrade: (req, socket) => {
      socket.on('error', () => {})
      scenario.upgrade?.(req, socket, kit)
    },
  }
}

function addPages(app: Express, pages: Readonly<Record<string, Page>>, tools: Tools): Express {
  app.set('env', 'test') // Express prints errors elsewhere
  for (const [path, page] of Object.entries(pages))
    app.all(path, (req, res, next) => {
      const result = page(req, res, tools, next)
      if (result instanceof Promise) result.catch(next)
    })
  return app
}

function makeTools(stack: Stack): Tools {
  const events = new EventEmitter()
  const told = new Set<string>()
  return {
    tell: (name) => {
      told.add(name)
      events.emit(name)
    },
    hear: async (name) => {
      if (!told.has(name)) await once(events, name)
    },
    setStore: (state) => stack.setStore(state),
  }
}

async function take(step: Step, scenario: Scenario, stack: Stack, visitor: Browser): Promise<Seen[]> {
  if (step === 'logIn') {
    await stack.logIn(visitor)
    return []
  }
  if (typeof step === 'object' && 'store' in step) {
    await stack.setStore(step.store)
    return []
  }
  const asks = typeof step === 'object' && 'together' in step ? step.together : [step]
  return Promise.all(asks.map((ask) => see(ask, scenario, stack, visitor)))
}

async function see(step: string | Ask, scenario: Scenario, stack: Stack, visitor: Browser): Promise<Seen> {
  const ask = typeof step === 'string' ? { ask: step } : step
  const [method = '', path = ''] = ask.ask.split(' ')
  const upgrade = ask.upgrade ? { connection: 'Upgrade', upgrade: 'websocket' } : {}
  const own = ask.cookie?.(stack.cookieName, visitor.cookie(stack.cookieName) ?? '')
  const headers = { ...upgrade, ...ask.headers, ...(own === undefined ? {} : { cookie: own }) }
  const sender = own === undefined ? visitor : new Browser({ cookies: false })
  const asking = sender.fetchJson(`${stack.url}${path}`, { method, json: ask.json, headers })
  const answer = await Promise.race([asking, deadline()])
  return answer ? look(answer, scenario, stack) : NO_ANSWER
}

function deadline(): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), DEADLINE_MS).unref())
}

function look({ status, json, body, headers }: ScriptAnswer, scenario: Scenario, stack: Stack): Seen {
  const lines = headers['set-cookie'] ?? []
  const ours = lines.filter((line) => line.startsWith(`${stack.cookieName}=`))
  const control = headers['cache-control'] ?? ''
  const names = lines.filter((line) => !ours.includes(line)).map((line) => line.slice(0, line.indexOf('=')))
  return {
    status,
    body: json ?? body.replace(/<br>.*/s, ''), // a stack trace names the files that it went through
    cookies: ours.map((line) => readLine(line, scenario.lives === true)),
    others: names,
    headers: Object.fromEntries((scenario.headers ?? []).map((name) => [name, headers[name]?.toString()])),
    isExposed: stack.name !== 'plain' && ours.length > 0 && !/\b(private|no-store)\b/.test(control),
  }
}

function readLine(line: string, lives: boolean): SetSession {
  const [, ...attributes] = line.split(/; */)
  const isTime = (text: string) => /^(expires|max-age)=/i.test(text)
  const life = lifeOf(attributes.filter(isTime))
  return {
    life: !lives && (life === 'browser' || life === '90 days') ? 'usual' : life,
    attributes: attributes
      .filter((text) => !isTime(text))
      .sort()
      .join('; '),
  }
}

/** `browser` until it closes, `gone`, or so many minutes or days. */
function lifeOf(times: readonly string[]): string {
  const [time] = times
  if (time === undefined) return 'browser'
  const value = time.slice(time.indexOf('=') + 1)
  const seconds = /^max-age/i.test(time) ? Number(value) : (Date.parse(value) - Date.now()) / 1000
  if (seconds <= 0) return 'gone'
  const minutes = Math.round(seconds / 60)
  return minutes % 1440 === 0 ? `${minutes / 1440} days` : `${minutes} minutes`
}
