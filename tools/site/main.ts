import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

const site = path.join(__dirname, '..', '..', 'docs', 'site')
const dist = path.join(site, 'dist')

export async function main(): Promise<number> {
  if (!existsSync(path.join(site, 'node_modules'))) run('npm', 'ci', '--no-audit', '--no-fund')
  run('npm', 'run', 'build')
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'))
  const findings = deadLinks(files)
  for (const finding of findings) console.log(finding)
  console.log(`${files.length} pages, ${findings.length} findings`)
  return findings.length === 0 && files.length > 25 ? 0 : 1
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { cwd: site, stdio: 'inherit' })

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
