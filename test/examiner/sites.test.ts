import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Browser } from 'playwright-core'
import type { Flow } from '../../lib/emulator/flow/types'
import type { Result, Verdict } from '../../lib/examiner/check'
import { htmlReport } from '../../lib/examiner/report/html'
import type { Examined } from '../../lib/examiner/report/summary'
import { violations } from '../support/axe'
import { findChromium, openBrowser, screenshots } from '../support/browser'
import { makeCertificate } from '../support/certificate'
import { freePort } from '../support/ports'
import { launch } from '../support/process'

/* The command against real sites. Here only checks that wait for nothing; all of them are in `node tools/examiner/sites`. */

const { differences }: { differences(site: string, results: readonly Result[]): string[] } = require('./table.js')

const main = path.join(__dirname, '..', '..', 'dist', 'cli', 'main.js')
const QUICK =
  'identify/first-visit,landing/login-csrf,landing/replay-after-logout,landing/open-redirect,ticket/right-user,ticket/once,login/new-session-id,login/wrong-password,login/password-stays-nowhere,logout/here,logout/by-post-only,session,headers'
/** For sites that must pass all. */
const QUICKER =
  'identify/first-visit,landing/replay-after-logout,ticket/right-user,login/new-session-id,logout/here,session,headers'
// a busy machine needs half a minute and more to examine a site
jest.setTimeout(150_000)
let folder: string

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'express-sso2-examine-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type WithEvidence = Result & { readonly evidence: Pick<Flow, 'participants' | 'steps'> }

type Run = Awaited<ReturnType<typeof examine>>

/** Examines a site in a folder. @param start the command that starts the site */
async function examine(
  cwd: string,
  args: readonly string[],
  start: readonly string[],
  env: Record<string, string> = {},
  scheme = 'http',
) {
  const [site, port] = [await freePort(), await freePort()]
  const name = path.join(folder, String(site))
  const reports = ['--json', `${name}.json`, '--report', `${name}.html`, '--junit', `${name}.xml`]
  const words = [`${scheme}://localhost:${site}`, '--port', String(port), ...args, ...reports, '--', ...start]
  const child = launch({ command: process.execPath, args: [main, 'examine', ...words], cwd, env })
  const code = await child.ended
  return {
    code,
    out: child.stdout(),
    err: child.stderr(),
    file: (ending: string) => readFileSync(`${name}.${ending}`, 'utf8'),
  }
}

const sites = path.join(__dirname, 'sites')
const examples = path.join(__dirname, '..', '..', 'examples')
const resultsOf = (run: Run): Result[] => JSON.parse(run.file('json')).results

test('a login form that a script makes is found with --browser', async () => {
  const only = ['--only', 'login/right-password', '--browser']
  const run = await examine(sites, only, ['node', 'scripted.cjs'], { CHROMIUM_PATH: findChromium() })
  expect(resultsOf(run).map(({ verdict, reason }) => [verdict, reason])).toEqual([['passed', '']])
})

test('the smallest example passes, and the exit code is 0', async () => {
  const run = await examine(path.join(examples, 'minimal'), ['--only', QUICKER], ['node', 'site.mjs'])
  expect(differences('minimal', resultsOf(run))).toEqual([])
  expect([run.code, run.err]).toEqual([0, ''])
})

test('a site over https passes, though nobody has signed its certificate', async () => {
  makeCertificate(folder)
  const createServer =
    "require('node:https').createServer({ key: fs.readFileSync('2.key'), cert: fs.readFileSync('2.pem') }"
  const site = `require(${JSON.stringify(path.join(sites, 'by-hand.cjs'))}).createSite(process.env).app`
  writeFileSync(
    path.join(folder, 'secure.cjs'),
    `const fs = require('node:fs')\n${createServer}, ${site}).listen(process.env.PORT)`,
  )
  const run = await examine(folder, ['--only', QUICKER], ['node', 'secure.cjs'], {}, 'https')
  const verdicts = resultsOf(run).map(({ name, verdict }) => `${name}: ${verdict}`)
  expect(verdicts.filter((line) => !/: (passed|not applicable)$/.test(line))).toEqual([])
  expect(verdicts).toContain('session/shared-connection: passed')
  expect([run.code, run.err]).toEqual([0, ''])
})

describe('a naive site', () => {
  let run: Run
  let browser: Browser

  beforeAll(async () => {
    ;[run, browser] = await Promise.all([examine(sites, ['--only', QUICK], ['node', 'naive.mjs']), openBrowser()])
  })
  afterAll(() => browser?.close())

  test('fails on the checks that it must fail on, and on no other', () => {
    const results = resultsOf(run)
    expect(results.length).toBeGreaterThan(15)
    expect(differences('naive', results)).toEqual([])
    expect(run.code).toBe(1)
    expect(run.out).toContain('Users or their data may be at risk.')
  })

  test('has no password and no secret in any report', () => {
    const text = run.out + ['json', 'html', 'xml'].map(run.file).join('')
    expect(text).not.toMatch(/Pw-\w+-\d+-made-up(?!-secret)/)
    expect(text).not.toContain('made-up-secret')
    expect(text).not.toMatch(/eyJ[\w-]+\.eyJ/)
  })

  test('has evidence for each failure, and JUnit counts them', () => {
    const { results }: { results: WithEvidence[] } = JSON.parse(run.file('json'))
    const failed = results.filter(({ verdict }) => verdict === 'failed')
    expect(run.file('xml').match(/<failure/g)).toHaveLength(failed.length)
    expect(failed.filter(({ evidence: { steps } }) => steps.length === 0)).toEqual([])
  })

  test('has a report without axe violations: light, dark, on a phone, and on paper', async () => {
    const { results, ...rest } = JSON.parse(run.file('json')) as Omit<Examined, 'results'> & { results: WithEvidence[] }
    const one = (verdict: Verdict) => results.find((result) => result.verdict === verdict) ?? []
    const shown = [...results.slice(0, 2), one('failed'), one('warning'), one('not applicable')].flat()
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.route('**/*', (route) => route.abort())
    await page.setContent(
      htmlReport({
        ...rest,
        results: shown.map((result) => ({ ...result, flow: { ...result.evidence, title: result.name } })),
      }),
    )
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    // paper has no clicks and is white
    expect(await page.locator('.check dd').first().isVisible()).toBe(true)
    expect(await page.locator('.check .steps li').first().isVisible()).toBe(true)
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)')
    expect(await page.evaluate('getComputedStyle(document.querySelector("section")).color')).toBe('rgb(35, 33, 29)')
    await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    for (const [name, media, width] of [
      ['light', { colorScheme: 'light' }, 1280],
      ['dark', { colorScheme: 'dark' }, 1280],
      ['phone', { colorScheme: 'light' }, 390],
      ['paper', { media: 'print', colorScheme: 'dark' }, 794],
    ] as const) {
      await page.emulateMedia({ media: 'screen', ...media })
      await page.setViewportSize({ width, height: 900 })
      expect([name, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([name, true])
      expect([name, await violations(page)]).toEqual([name, []])
      await screenshots(page, `examine-${name}`)
    }
    await page.close()
  })
})

const hasPython = spawnSync('python3', ['--version']).status === 0

;(hasPython ? test : test.skip)(
  'a good site in Python fails with wrong settings alone, without advice about options of this package',
  async () => {
    const settings = path.join(folder, 'python.config.json')
    writeFileSync(settings, JSON.stringify({ clockToleranceSeconds: 60 }))
    const only = `${QUICKER},clock/ahead-30-s,logout/all-sessions`
    const run = await examine(sites, ['--only', only, '--config', settings], ['python3', 'python.py'])
    expect(differences('python', resultsOf(run))).toEqual([expect.stringMatching(/^clock\/ahead-30-s: failed/)])
    expect([run.code, run.err]).toEqual([1, ''])
    expect(run.out + run.file('html')).not.toMatch(/express-sso2|clockToleranceSeconds/)
  },
)
