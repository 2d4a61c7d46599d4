import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import express from 'express'
import { Browser } from '../support/agent'
import { freePort } from '../support/ports'
import { until } from './servers'

/*
 * A real nginx whose proxy_cache stands in front of a site that lets every shared cache keep everything: what one user is shown
 * reaches no other browser. The site is the build.
 */

const DIST = process.env['ENGINES_DIST'] ?? path.join(__dirname, '../../dist')
const { sso2 } = require(DIST) as typeof import('../../lib')
const { createEmulator, demoOptions } = require(path.join(DIST, 'emulator')) as typeof import('../../lib/emulator')

const HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['X-Accel-Expires', '600'],
  ['Expires', 'Fri, 01 Jan 2038 00:00:00 GMT'],
  ['Cache-Control', 'public, max-age=600'],
]

/** @returns the version, or nothing if nginx is not installed */
function nginxVersion(): string | undefined {
  try {
    return /nginx\/([\d.]+)/.exec(execFileSync('sh', ['-c', 'nginx -v 2>&1'], { encoding: 'utf8' }))?.[1]
  } catch {
    return undefined
  }
}

const configuration = (folder: string, port: number, site: number) => `
${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
  access_log off; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s; proxy_cache_path ${folder}/cache keys_zone=z:10m;
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://127.0.0.1:${site}; proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; proxy_set_header X-Forwarded-Proto $scheme;
      proxy_buffer_size 16k; proxy_buffers 8 16k; proxy_cache z; proxy_cache_valid 200 302 303 401 403 404 405 503 30s;
      add_header X-Cache $upstream_cache_status always;
    }
  }
}`

/** @returns what was broken; `skipped` if there is no nginx */
export async function runNginx(): Promise<{ version: string | undefined; broken: readonly string[] }> {
  const version = nginxVersion()
  if (version === undefined) return { version, broken: [] }
  const broken: string[] = []
  for (const header of HEADERS) broken.push(...(await runWith(header)))
  return { version, broken }
}

async function runWith(header: readonly [string, string]): Promise<string[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'engines-nginx-'))
  const port = await freePort()
  const url = `http://site.localhost:${port}`
  const client = { clientId: 'site', clientSecret: 'client-secret-of-the-site-0123456789', name: 'Site' }
  const emulator = createEmulator(demoOptions({ clients: [{ ...client, landingPage: `${url}/sso2/landing` }] }))
  await emulator.listen(0)
  const sso = sso2({
    ...emulator.siteOptions('site'),
    siteUrl: url,
    sessionSecret: 'a-session-secret-of-more-than-32-bytes',
  })
  const app = express().set('trust proxy', 1)
  app.use((_req, res, next) => {
    res.set(...header)
    next()
  })
  app.use(sso)
  app.get('/public', (_req, res) => void res.send('of everybody'))
  app.get('/account', sso.requireLogin(), (req, res) => void res.send(`account of ${req.sso2.user?.accountId}`))
  app.get('/', (_req, res) => void res.send('home'))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const file = path.join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, port, (server.address() as AddressInfo).port))
  const nginx = spawn('nginx', ['-p', folder, '-e', `${folder}/error.log`, '-c', file], { stdio: 'ignore' })
  try {
    await until('nginx to answer', async () => (await fetch(`http://127.0.0.1:${port}/public`)).ok)
    return (await findLeaks(url, port)).map((leak) => `nginx, ${header.join(': ')}: ${leak}`)
  } finally {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
    server.close()
    server.closeAllConnections()
    await sso.close()
    await emulator.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function findLeaks(url: string, port: number): Promise<string[]> {
  const leaks: string[] = []
  const ada = new Browser()
  await ada.visit(`${url}/login`)
  await ada.submit(`${url}/login`, { username: 'ada', password: 'correct-horse', return_to: '/' })
  const own = await ada.visit(`${url}/account`)
  if (!own.body.includes('account-ada')) leaks.push('the user does not see the page')
  const script = await new Browser().fetchJson(`${url}/account`)
  if (script.status !== 401) leaks.push(`a script without cookies got ${script.status}: ${script.body.slice(0, 60)}`)
  const other = await new Browser().visit(`${url}/account`)
  if (other.body.includes('account-ada')) leaks.push('another browser saw the page of the user')
  const again = await ada.visit(`${url}/account`)
  if (!again.body.includes('account-ada')) leaks.push('the user was shown the refusal of another browser')
  for (const path of ['/login', '/account', '/sso2/landing']) {
    await ada.fetchJson(`${url}${path}`)
    const { headers } = await ada.fetchJson(`${url}${path}`)
    if (headers['x-cache'] === 'HIT') leaks.push(`${path} came out of the cache`)
  }
  const open = `http://127.0.0.1:${port}/public`
  await fetch(open)
  if ((await fetch(open)).headers.get('x-cache') !== 'HIT')
    leaks.push('the cache keeps not even the public page: nothing is shown')
  return leaks
}
