import { trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import express, { type Express } from 'express'
import type { Sso2 } from '../../lib'
import type { Browser, VisitedPage } from '../support/agent'
import { blocksOf } from '../support/markdown'
import { ada, addPages, eventually, grace, logIn, type Setup, startSetup, view } from '../support/setup'
import { readText } from '../support/sources'

/*
 * The examples of docs/monitoring.md, taken from there and run as they are: what a Prometheus server would fetch, the series that
 * alert rules ask for, and the spans that a collector would get.
 */
const { compile } = require('../support/compile.js') as { compile(source: string): string }
const codeOf = (wanted: string) =>
  blocksOf(readText('docs', 'monitoring.md')).flatMap(({ language, code }) => (language === wanted ? [code] : []))

/** @returns the application that it makes, if any */
function runSnippet(library: string, sso?: Sso2): Express | undefined {
  const source = codeOf('ts').find((code) => code.includes(`'${library}'`)) ?? ''
  const script = `${compile(source)}; return typeof app === 'undefined' ? undefined : app`
  return new Function('require', 'exports', 'sso', script)(require, {}, sso)
}

const exporter = new InMemorySpanExporter()
let setup: Setup
let hasMetrics = false

beforeAll(async () => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  runSnippet('@opentelemetry/api')
  setup = await startSetup({
    site: { loginLimit: { attempts: 1, perSeconds: 60 } },
    build: (sso, gates) => {
      const app = (hasMetrics ? undefined : runSnippet('prom-client', sso)) ?? express() // at the first site, the morning paper
      hasMetrics = true
      app.use(sso)
      return addPages(app, sso, gates)
    },
  })
  const browser = setup.browser()
  // a store that a busy machine keeps back for once is asked again
  const until = (status: string, visit: () => Promise<VisitedPage>) =>
    eventually(() =>
      visit().then(
        (page) => view(page).status === status,
        () => false,
      ),
    )
  await until('anon', () => browser.visit(`${setup.morning.url}/news`))
  await until('loggedin', () => logIn(browser, setup.morning, ada))
  setup.emulator.clock.advance(361)
  await until('loggedin', () => browser.visit(`${setup.morning.url}/news`))
  await until('anon', () => browser.submit(`${setup.morning.url}/logout`, { return_to: '/' }))
  await eventually(
    async () => (await tryLogin(browser, { ...ada, username: 'stranger', password: 'wrong' })).status === 429,
  )
  setup.emulator.faults.add({ operation: 'authenticate', kind: 'down' })
  await tryLogin(browser, grace)
  setup.emulator.faults.add({ operation: 'sessionstatus', kind: 'down' })
  setup.emulator.clock.advance(361)
  await until('anon', () => browser.visit(`${setup.morning.url}/news`))
})
afterAll(async () => {
  await setup.close()
  trace.disable()
})

const tryLogin = (browser: Browser, json: typeof ada) => browser.fetchJson(`${setup.morning.url}/login`, { json })
const scrape = async () => (await fetch(`http://127.0.0.1:${new URL(setup.morning.url).port}/metrics`)).text()

test('Prometheus gets a histogram of every kind of event, and the health', async () => {
  const metrics = await scrape()
  for (const labels of [
    'channel="identify",operation="identify",outcome="redirected",reason="no_session"',
    'channel="landing",operation="landing",outcome="stay_anonymous",reason=""',
    'channel="login",operation="authenticate",outcome="logged_in",reason=""',
    'channel="login",operation="authenticate",outcome="refused",reason="unavailable"',
    'channel="login",operation="limit",outcome="limited",reason="address_and_username"',
    'channel="logout",operation="logout",outcome="confirmed",reason=""',
    'channel="check",operation="sessionstatus",outcome="keep",reason=""',
    'channel="degraded",operation="visit",outcome="served",reason="sso_unavailable"',
  ])
    expect(metrics).toMatch(new RegExp(`sso2_seconds_count\\{${labels}\\} [1-9]`))
  expect(metrics).toContain('sso2_seconds_bucket{le="0.1"')
  expect(metrics).toMatch(/^sso2_healthy [01]$/m)
})

/** A selector of the alert rules: the name of a metric, and a pattern for each label. */
function selectorsOf(rules: string) {
  return [...rules.matchAll(/(sso2_\w+)(?:\{([^}]*)\})?/g)].map(([text, name = '', labels = '']) => ({
    text,
    name,
    labels: [...labels.matchAll(/(\w+)=~?"([^"]*)"/g)].map(([, label = '', value = '']) => ({
      label,
      pattern: new RegExp(`^(?:${value})$`),
    })),
  }))
}

test('each alert rule asks for a series that these visits have made', async () => {
  const series = [...(await scrape()).matchAll(/^(sso2_\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name, labels = '', value]) => ({
      name,
      value: Number(value),
      labels: new Map([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, text = '']) => [label, text] as const)),
    }),
  )
  const [rules = ''] = codeOf('yaml')
  const selectors = selectorsOf(rules)
  expect(selectors).toHaveLength(5)
  const isFound = ({ name, labels }: (typeof selectors)[number]) =>
    series.some(
      (one) =>
        one.name === name &&
        (one.value > 0 || name === 'sso2_healthy') &&
        labels.every(({ label, pattern }) => pattern.test(one.labels.get(label) ?? '')),
    )
  expect(selectors.filter((selector) => !isFound(selector)).map(({ text }) => text)).toEqual([])
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
