import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'

async function freePort() {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Starts a Redis that ends with this process, also when this process is killed: its shell then reads the end of the pipe.
 * @returns its address
 */
export async function startRedis() {
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-mutation-'))
  const script = 'redis-server "$@" & read -r _; kill -9 $!; rm -rf "$0"'
  const flags = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--databases', '64', '--dir', folder].map(String)
  const shell = spawn('sh', ['-c', script, folder, ...flags], { stdio: ['pipe', 'pipe', 'ignore'] })
  await new Promise((resolve, reject) => {
    shell.once('exit', () => reject(new Error('redis-server did not start')))
    shell.stdout.on('data', (chunk) => {
      if (chunk.includes('Ready to accept connections')) resolve()
    })
  })
  for (const handle of [shell, shell.stdin, shell.stdout]) handle.unref()
  return `redis://127.0.0.1:${port}`
}
