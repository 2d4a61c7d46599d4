import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { built, type Running, startCommand } from './command'
import { Workshop } from './compile'
import { configuration } from './configuration'
import { Platform } from './platform'
import { requirements } from './requirements'

/* The site chooses its Express: the emulator meets every requirement under Express 4 as well. */

let workshop: Workshop
let command: Running

beforeAll(async () => {
  workshop = new Workshop()
  const compiled = path.join(workshop.folder, 'package')
  cpSync(built, compiled, { recursive: true })
  // Found before the repository's own, since it is nearer.
  mkdirSync(path.join(compiled, 'node_modules'))
  const express4 = path.dirname(require.resolve('express4/package.json'))
  symlinkSync(express4, path.join(compiled, 'node_modules', 'express'), 'dir')
  const config = path.join(workshop.folder, 'emulator.json')
  writeFileSync(config, JSON.stringify(configuration))
  command = await startCommand(compiled, ['--config', config])
})
afterAll(async () => {
  await command?.stop()
  workshop?.remove()
})

test('every requirement holds under Express 4', async () => {
  const platform = new Platform(command.url)
  const broken: string[] = []
  for (const { name, run } of requirements) {
    await platform.reset()
    await run(platform).catch(() => broken.push(name))
  }
  expect(broken).toEqual([])
})

test('controls and portal work under Express 4', async () => {
  const platform = new Platform(command.url)
  expect((await platform.control('POST', '/faults', { operation: 'me', kind: 'tired' })).status).toBe(400)
  expect((await platform.control('PATCH', '/accounts/ada', { active: false })).json).toMatchObject({ active: false })
  expect((await platform.control('POST', '/clock')).status).toBe(400)
  expect((await platform.request('POST', '/sso/logout', { 'content-type': 'application/json' })).status).toBe(400)
  expect((await platform.request('GET', '/')).body).toContain('Admin portal')
})
