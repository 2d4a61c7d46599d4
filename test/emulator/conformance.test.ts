import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { makeWorkshop } from '../support/project'
import { built, startCommand } from './command'
import { configuration } from './configuration'
import { Platform } from './platform'
import { requirements } from './requirements'
import { sharedEmulator } from './shared'

/* Every requirement of the specification, over HTTP, with each Express that a site may have. */

const { platform } = sharedEmulator()

test.each(requirements.map((requirement) => [requirement.table, requirement.name, requirement] as const))(
  '%s: %s',
  (_table, _name, requirement) => requirement.run(platform),
)

/** The package with Express 4, which is found before the repository's own, since it is nearer. */
function withExpress4(workshop: string): string {
  const compiled = path.join(workshop, 'package')
  cpSync(built, compiled, { recursive: true })
  mkdirSync(path.join(compiled, 'node_modules'))
  const express4 = path.dirname(require.resolve('express4/package.json'))
  symlinkSync(express4, path.join(compiled, 'node_modules', 'express'), 'dir')
  return compiled
}

test('the command with Express 4 meets each requirement too', async () => {
  const workshop = makeWorkshop()
  const config = path.join(workshop, 'emulator.json')
  writeFileSync(config, JSON.stringify(configuration))
  const command = await startCommand(['--config', config], withExpress4(workshop))
  const there = new Platform(command)
  const broken: string[] = []
  for (const { table, name, run } of requirements) {
    await there.reset()
    await run(there).catch((error) => broken.push(`${table}, ${name}: ${error}`))
  }
  expect((await there.request('GET', '/')).body).toContain('Admin portal')
  expect(await command.stop()).toBe(0)
  rmSync(workshop, { recursive: true })
  expect(broken).toEqual([])
})
