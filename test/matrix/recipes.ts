import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { blocksBelow } from '../docs/markdown'
import { answers, during } from '../examples/process'
import { Browser } from '../support/agent'
import { findChromium } from '../support/browser'
import { freePort } from '../support/ports'
import { readText } from '../support/sources'
import { type Outcome, outcomeOf, Project, run } from './project'

/* Recipes of the documentation whose frameworks are too large to be a dependency of this repository: copied out of the pages, and run. */

/** How it went with one recipe. */
export interface Recipe extends Outcome {
  readonly name: string
}

interface Trial {
  /** The package whose version is told, and what is installed along with it. */
  readonly name: string
  readonly packages: readonly string[]
  readonly attempt: (project: Project) => Promise<unknown>
}

const trials: readonly Trial[] = [
  { name: 'jest', packages: ['jest@30', 'supertest@7', 'express@5'], attempt: tryJest },
  { name: 'vitest', packages: ['vitest@4', 'supertest@7', 'express@5'], attempt: tryVitest },
  { name: '@playwright/test', packages: ['@playwright/test@1', 'express@5'], attempt: tryPlaywright },
  { name: 'next', packages: ['next@16', 'react@19', 'react-dom@19', 'express@5'], attempt: tryNext },
]

/** Runs each recipe in an empty folder, with the packed file and the latest of what it names. */
export async function tryRecipes(folder: string, tarball: string): Promise<Recipe[]> {
  const recipes: Recipe[] = []
  for (const { name, packages, attempt } of trials) {
    const project = new Project(path.join(folder, path.basename(name)))
    await project.install([tarball, ...packages])
    recipes.push({ name: `${name} ${project.versionOf(name)}`, ...(await outcomeOf(() => attempt(project))) })
  }
  return recipes
}

/** Blocks of a section of a page. */
const blocksIn = (page: string, heading: string) => blocksBelow(readText('docs', page), `## ${heading}`)

/** Writes what a section names as files. @param change made in each of them */
function copyFiles(project: Project, page: string, heading: string, change = (code: string) => code): void {
  const blocks = blocksIn(page, heading).filter(({ file }) => file !== undefined)
  assert.ok(blocks.length > 0, `docs/${page}, ${heading}, names files`)
  for (const { file, code } of blocks) project.write(file ?? '', change(code))
}

/** The same tests, as the page has them. */
function copyTests(project: Project, change = (code: string) => code): void {
  copyFiles(project, 'testing.md', 'Prepare the site')
  const [tests] = blocksIn('testing.md', 'Jest and Vitest')
  project.write('account.test.mjs', change(tests?.code ?? ''))
}

async function tryJest(project: Project): Promise<void> {
  copyTests(project, (code) => code.replace(/^.* from 'vitest'\n/m, ''))
  await run(
    process.execPath,
    ['--experimental-vm-modules', 'node_modules/jest/bin/jest.js', '--json', '--outputFile=of.json'],
    project.folder,
  )
  const { numPassedTests, numTotalTests } = JSON.parse(readFileSync(project.path('of.json'), 'utf8'))
  assert.deepEqual([numPassedTests, numTotalTests], [1, 1])
}

async function tryVitest(project: Project): Promise<void> {
  copyTests(project)
  const output = await run('npx', ['vitest', 'run', '--reporter=tap'], project.folder)
  assert.match(output, /^ {4}ok 1 - a user sees their account/m)
}

async function tryPlaywright(project: Project): Promise<void> {
  const ports = new Map([
    ['3100', String(await freePort())],
    ['4100', String(await freePort())],
  ])
  const withPorts = (code: string) => code.replace(/\b[34]100\b/g, (port) => ports.get(port) ?? port)
  copyFiles(project, 'testing.md', 'Prepare the site')
  copyFiles(project, 'testing.md', 'Playwright', withPorts)
  const launchOptions = { executablePath: findChromium(), args: ['--no-sandbox', '--disable-gpu'] }
  project.write(
    'here.config.mjs', // the Chromium of this machine, in the place of one that Playwright downloads
    `import own from './playwright.config.mjs'
export default { ...own, use: { ...own.use, launchOptions: ${JSON.stringify(launchOptions)} } }`,
  )
  const output = await run('npx', ['playwright', 'test', '--config=here.config.mjs', '--reporter=list'], project.folder)
  assert.match(output, /1 passed/)
}

const layout = `export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>
}
`
const front = `export default function Front() {
  return <main>News</main>
}
`

async function tryNext(project: Project): Promise<void> {
  copyFiles(project, 'frameworks.md', 'Next.js')
  const page = blocksIn('frameworks.md', 'Next.js').find(({ language }) => language === 'jsx')
  project.write('app/account/page.jsx', page?.code ?? '')
  project.write('app/layout.jsx', layout)
  project.write('app/page.jsx', front)
  const env = { NEXT_TELEMETRY_DISABLED: '1' }
  const built = await run('npx', ['next', 'build'], project.folder, env)
  assert.match(built, /ƒ \/account/) // made for each request anew
  const [port, platform] = [String(await freePort()), String(await freePort())]
  const siteUrl = `http://localhost:${port}`
  const command = [project.path('node_modules/express-sso2/dist/cli/main.js'), 'emulator', '--port', platform]
  const emulator = {
    command: process.execPath,
    args: [...command, '--site', siteUrl, '--env-dir', '.'],
    cwd: project.folder,
    env: {},
    isThere: (output: string) => output.includes('Ctrl+C ends it'),
  }
  const site = {
    command: process.execPath,
    args: [`--env-file=localhost-${port}.env`, 'server.mjs'],
    cwd: project.folder,
    env,
    isThere: () => answers(`${siteUrl}/sso2/landing`),
  }
  await during(emulator, () => during(site, () => walk(siteUrl)))
}

async function walk(siteUrl: string): Promise<void> {
  const browser = new Browser()
  assert.match((await browser.visit(`${siteUrl}/`)).body, /News/)
  const form = await browser.visit(`${siteUrl}/account`)
  assert.equal(new URL(form.url).pathname, '/login')
  const login = { username: 'ada', password: 'correct-horse', return_to: '/account' }
  const account = await browser.submit(`${siteUrl}/login`, login)
  assert.deepEqual([account.status, account.url], [200, `${siteUrl}/account`])
  assert.match(account.body, /<main>Ada Lindqvist<\/main>/)
  await browser.submit(`${siteUrl}/logout`, { return_to: '/' })
  assert.equal(new URL((await browser.visit(`${siteUrl}/account`)).url).pathname, '/login')
}
