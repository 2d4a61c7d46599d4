import { readFileSync } from 'node:fs'
import path from 'node:path'
import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { transformSync } from '@swc/core'
import express, { type Express } from 'express'
import { ada, addPages, eventually, logIn, type Network, startNetwork, view } from './flows/network'
import type { VisitedPage } from './support/agent'

/*
 * The two examples of docs/monitoring.md, taken from there and run as they are: what a Prometheus server would fetch, and the
 * spans that a collector would get.
 */
const page = readFileSync(path.join(__dirname, '..', 'docs', 'monitoring.md'), 'utf8')
const snippets = [...page.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(([, code = '']) => code)

/** @returns the application that it makes, if any */
function runSnippet(library: string): Express | undefined {
  const source = snippets.find((code) => code.includes(`'${library}'`)) ?? ''
  const jsc = { parser: { syntax: 'typescript' as const }, target: 'es2022' as const }
  const { code } = transformSync(source, { jsc, module: { type: 'commonjs' }, isModule: true, swcrc: false })
  return new Function('require', 'exports', `${code}; return typeof app === 'undefined' ? undefined : app`)(require, {})
}

const exporter = new InMemorySpanExporter()
let network: Network
let hasMetrics = false

beforeAll(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  runSnippet('@opentelemetry/api')
  network = await startNetwork({
    build: (sso, gates) => {
      const app = (hasMetrics ? undefined : runSnippet('prom-client')) ?? express() // at the first site, the morning paper
      hasMetrics = true
      app.use(sso)
      return addPages(app, sso, gates)
    },
  })
  const browser = network.browser()
  // a store that a busy machine keeps back for once is asked again
  const until = (status: string, visit: () => Promise<VisitedPage>) =>
    eventually(() =>
      visit().then(
        (page) => view(page).status === status,
        () => false,
      ),
    )
  await until('anon', () => browser.visit(`${network.morning.url}/news`))
  await until('loggedin', () => logIn(browser, network.morning, ada))
  network.emulator.clock.advance(361)
  await until('loggedin', () => browser.visit(`${network.morning.url}/news`))
  await until('anon', () => browser.submit(`${network.morning.url}/logout`, { return_to: '/' }))
  network.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  network.emulator.clock.advance(361)
  await until('anon', () => browser.visit(`${network.morning.url}/news`))
})
afterAll(async () => {
  await network.close()
  trace.disable()
})

test('Prometheus gets a histogram of every kind of event', async () => {
  const metrics = await (await fetch(`http://127.0.0.1:${new URL(network.morning.url).port}/metrics`)).text()
  for (const labels of [
    'operation="identify",outcome="redirected",reason="no_session"',
    'operation="landing",outcome="stay_anonymous",reason=""',
    'operation="authenticate",outcome="logged_in",reason=""',
    'operation="logout",outcome="confirmed",reason=""',
    'operation="sessionstatus",outcome="keep",reason=""',
    'operation="visit",outcome="served",reason="sso_unavailable"',
  ])
    expect(metrics).toMatch(new RegExp(`sso2_seconds_count\\{${labels}\\} [1-9]`))
  expect(metrics).toContain('sso2_seconds_bucket{le="0.1"')
})

test('OpenTelemetry gets a span for every event, as long as it took', () => {
  const spans = exporter.getFinishedSpans()
  expect(spans.map(({ name }) => name)).toEqual(
    expect.arrayContaining(
      ['identify', 'landing', 'authenticate', 'sessionstatus', 'logout', 'visit'].map((name) => `sso2 ${name}`),
    ),
  )
  const login = spans.find(
    ({ name, attributes }) => name === 'sso2 authenticate' && attributes['outcome'] === 'logged_in',
  )
  const [seconds = 0, nanoseconds = 0] = login?.duration ?? []
  expect(seconds + nanoseconds / 1e9).toBeGreaterThan(0)
  expect(seconds + nanoseconds / 1e9).toBeLessThan(10)
  expect(login?.attributes).toMatchObject({ outcome: 'logged_in', sidHash: expect.stringMatching(/^[\w-]+$/) })
})
