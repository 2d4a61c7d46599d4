import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { root } from '../support/sources'

interface Package {
  readonly manifest: { name: string; version: string }
  /** A folder, or a file that is packed already. */
  readonly place: string
}

/** A registry of npm packages on this machine. */
export type Registry = Awaited<ReturnType<typeof startRegistry>>

/**
 * Serves what is installed here, and this package as it was packed: so that `npm install` runs as anywhere else, without a network.
 * @param tarball made by `npm pack`
 */
export async function startRegistry(tarball: string) {
  const packages = [...installed(), { manifest: read(root), place: tarball }]
  const server = http.createServer((req, res) => void answer(packages, req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() }
}

function installed(): Package[] {
  const lock: { packages: object } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'))
  const places = Object.keys(lock.packages).filter(Boolean)
  return places
    .map((name) => path.join(root, name))
    .filter((place) => existsSync(path.join(place, 'package.json')))
    .map((place) => ({ manifest: read(place), place }))
}

const read = (folder: string): Package['manifest'] =>
  JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))

async function answer(
  packages: readonly Package[],
  req: http.IncomingMessage,
  res: http.ServerResponse,
): Promise<void> {
  const asked = decodeURIComponent((req.url ?? '').slice(1))
  const [name = '', version] = asked.split('/-/')
  const found = packages.filter(({ manifest }) => manifest.name === name)
  const [first] = found
  if (!first) return void res.writeHead(404).end()
  if (version !== undefined)
    return sendTarball(found.find(({ manifest }) => manifest.version === version) ?? first, res)
  const origin = `http://${req.headers.host}`
  const versions = found.map(({ manifest }) => [
    manifest.version,
    { ...manifest, dist: { tarball: `${origin}/${encodeURIComponent(name)}/-/${manifest.version}` } },
  ])
  // what stands highest in node_modules is what this package was made with
  const highest = found.reduce((best, one) => (one.place.length < best.place.length ? one : best), first)
  const tags = { latest: highest.manifest.version }
  res.writeHead(200, { 'content-type': 'application/json' })
  res.end(JSON.stringify({ name, 'dist-tags': tags, versions: Object.fromEntries(versions) }))
}

async function sendTarball({ place }: Package, res: http.ServerResponse): Promise<void> {
  if (place.endsWith('.tgz')) return void res.end(readFileSync(place))
  const args = ['-czf', '-', '--exclude=node_modules', '-C', path.dirname(place), path.basename(place)]
  await pipeline(spawn('tar', args, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout, res)
}
