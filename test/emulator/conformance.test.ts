import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { built, type Running, startCommand } from './command'
import { Workshop } from './compile'
import { configuration } from './configuration'
import { Platform } from './platform'
import { requirements } from './requirements'

/* Every requirement of the specification, over HTTP, against the command in a process of its own. */

let workshop: Workshop
let command: Running
let platform: Platform

beforeAll(async () => {
  workshop = new Workshop()
  const config = path.join(workshop.folder, 'emulator.json')
  writeFileSync(config, JSON.stringify(configuration))
  command = await startCommand(built, ['--config', config])
  platform = new Platform(command.url)
})

afterAll(async () => {
  const code = await command?.stop()
  workshop?.remove()
  expect(code).toBe(0)
})

beforeEach(() => platform.reset())

const tables = [...new Set(requirements.map(({ table }) => table))]

describe.each(tables)('%s', (table) => {
  const checks = requirements.filter((one) => one.table === table)
  test.each(checks.map((check) => [check.name, check] as const))('%s', (_name, check) => check.run(platform))
})

test('there are at least 120 requirements, each with a name of its own', () => {
  const names = requirements.map(({ table, name }) => `${table}: ${name}`)
  expect(names.length).toBeGreaterThanOrEqual(120)
  expect(new Set(names).size).toBe(names.length)
})
