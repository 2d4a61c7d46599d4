import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { violations } from '../../test/support/axe'
import { openBrowser, screenshots, viewports } from '../../test/support/browser'

const site = path.join(__dirname, '..', '..', 'docs', 'site')
const dist = path.join(site, 'dist')
const TYPES: Readonly<Record<string, string>> = {
  ...{ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json' },
  ...{ '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2' },
}
/** Looked at in both schemes and at both widths; the others light and wide. */
const CLOSELY = ['index.html', 'concepts.html', 'recipes.html', 'options.html', 'api/index.html']

export async function main(args: readonly string[]): Promise<number> {
  if (!existsSync(path.join(site, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund')
  run('npm', 'run', 'build')
  if (args.includes('--build')) return 0
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  const server = serve()
  const browser = await openBrowser()
  try {
    const page = await browser.newPage({ viewport: viewports.desktop })
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const findings = [...deadLinks(files), ...(await lookAtAll(page, base, files))]
    for (const finding of findings) console.log(finding)
    console.log(`${files.length} pages, ${findings.length} findings`)
    return findings.length === 0 && files.length > 25 ? 0 : 1
  } finally {
    await browser.close()
    server.close()
  }
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: site, stdio: 'inherit' })

/** What a static host does. */
function serve(): http.Server {
  return http
    .createServer((request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://site')
      const asked = path.join(dist, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
      const file = [asked, `${asked}.html`].find((one) => one.startsWith(dist) && existsSync(one) && path.extname(one))
      const type = TYPES[path.extname(file ?? '')] ?? 'application/octet-stream'
      if (file) response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
      else response.writeHead(404).end()
    })
    .listen(0, '127.0.0.1')
}

/** Links between pages, to their headings too, and to pictures. */
function deadLinks(files: readonly string[]): string[] {
  const texts = new Map(files.map((file) => [file, readFileSync(path.join(dist, file), 'utf8')]))
  const idsOf = (file: string) => new Set([...(texts.get(file) ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
  return files.flatMap((file) =>
    [...(texts.get(file) ?? '').matchAll(/<(?:a|img)\b[^>]*? (?:href|src)="([^"]+)"/g)].flatMap(([, link = '']) => {
      if (/^(?:https?:|mailto:|data:)/.test(link)) return []
      const { pathname, hash } = new URL(link, `http://site/${file}`)
      const to = pathname === '/' ? 'index.html' : decodeURI(pathname.slice(1)).replace(/\/$/, '/index.html')
      if (!existsSync(path.join(dist, to))) return [`${file}: ${link} leads to nothing`]
      const anchor = decodeURIComponent(hash.slice(1)).replaceAll('&amp;', '&')
      return anchor === '' || idsOf(to).has(anchor) ? [] : [`${file}: ${link} has no such heading`]
    }),
  )
}

async function lookAtAll(page: Page, base: string, files: readonly string[]): Promise<string[]> {
  const findings: string[] = []
  page.on('pageerror', (error) => findings.push(`${page.url()}: ${error.message}`))
  for (const file of files.filter((name) => name !== '404.html')) {
    const isClose = CLOSELY.includes(file)
    for (const [name, viewport] of Object.entries(viewports).slice(0, isClose ? 2 : 1))
      for (const scheme of isClose ? (['light', 'dark'] as const) : (['light'] as const)) {
        await page.setViewportSize(viewport)
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
        await open(page, `${base}/${file}`)
        for (const found of await violations(page)) findings.push(`${file}, ${name}, ${scheme}: ${found}`)
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        if (Number(overflow) > 0) findings.push(`${file}, ${name}: ${overflow} pixels wider than the window`)
        if (isClose && name === 'desktop') await screenshots(page, `site-${path.basename(file, '.html')}-${scheme}`)
      }
  }
  return findings
}

/** Opens a page, and waits until its buttons work. */
async function open(page: Page, url: string): Promise<void> {
  await page.goto(url)
  await page.waitForFunction("document.querySelector('#app')?.__vue_app__ !== undefined")
}
