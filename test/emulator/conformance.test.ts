import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeWorkshop } from '../examples/project'
import { built, type Running, startCommand } from './command'
import { configuration } from './configuration'
import { Platform } from './platform'
import { requirements } from './requirements'

/* Every requirement of the specification, over HTTP, against the command in a process of its own, with each Express that a site may have. */

const workshop = makeWorkshop()
afterAll(() => rmSync(workshop, { recursive: true }))

/** The package with Express 4, which is found before the repository's own, since it is nearer. */
function withExpress4(): string {
  const compiled = path.join(workshop, 'package')
  cpSync(built, compiled, { recursive: true })
  mkdirSync(path.join(compiled, 'node_modules'))
  const express4 = path.dirname(require.resolve('express4/package.json'))
  symlinkSync(express4, path.join(compiled, 'node_modules', 'express'), 'dir')
  return compiled
}

const tables = [...new Set(requirements.map(({ table }) => table))]

describe.each([
  ['Express 5', () => built],
  ['Express 4', withExpress4],
])('with %s', (_express, place) => {
  let command: Running
  let platform: Platform

  beforeAll(async () => {
    const config = path.join(workshop, 'emulator.json')
    writeFileSync(config, JSON.stringify(configuration))
    command = await startCommand(['--config', config], place())
    platform = new Platform(command)
  })
  afterAll(async () => {
    expect(await command?.stop()).toBe(0)
  })
  beforeEach(() => platform.reset())

  describe.each(tables)('%s', (table) => {
    const checks = requirements.filter((one) => one.table === table)
    test.each(checks.map((check) => [check.name, check] as const))('%s', (_name, check) => check.run(platform))
  })

  test('controls and portal work', async () => {
    expect((await platform.control('POST', '/faults', { operation: 'me', kind: 'tired' })).status).toBe(400)
    expect((await platform.control('PATCH', '/accounts/ada', { active: false })).json).toMatchObject({ active: false })
    expect((await platform.control('POST', '/clock')).status).toBe(400)
    expect((await platform.request('POST', '/sso/logout', { 'content-type': 'application/json' })).status).toBe(400)
    expect((await platform.request('GET', '/')).body).toContain('Admin portal')
  })
})

test('there are at least 120 requirements, each with a name of its own', () => {
  const names = requirements.map(({ table, name }) => `${table}: ${name}`)
  expect(names.length).toBeGreaterThanOrEqual(120)
  expect(new Set(names).size).toBe(names.length)
})
