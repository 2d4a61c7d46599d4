import { cpSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { createEmulator as Create } from '../../lib/emulator'
import { makeWorkshop } from '../examples/project'
import { readText } from '../support/sources'
import { built } from './command'
import { configuration } from './configuration'
import { type Mutation, mutations } from './mutations'
import { Platform } from './platform'
import { requirements } from './requirements'

/*
 * Is the conformance suite worth anything? Each mutation makes one thing wrong in a copy of the emulator; the requirement
 * that it breaks must fail there. The suite itself shows that the same requirement holds for the emulator as it is.
 */

const { compile } = require('../support/compile.js') as { compile(source: string): string }

const workshop = makeWorkshop()
afterAll(() => rmSync(workshop, { recursive: true }))

test('each mutation breaks a requirement of its own', () => {
  expect(new Set(mutations.map(({ caughtBy }) => caughtBy)).size).toBe(mutations.length)
})

test('an emulator that was copied and not changed breaks none of the requirements', async () => {
  const platform = await open('unchanged')
  for (const { caughtBy } of mutations) await holds(platform, caughtBy)
  await platform.close()
})

test.each(mutations.map((mutation, index) => [mutation.caughtBy, mutation, index] as const))(
  'caught: %s',
  async (name, mutation, index) => {
    const platform = await open(`mutation-${index}`, mutation)
    const broken = await holds(platform, name).then(
      () => false,
      () => true,
    )
    await platform.close()
    expect(broken).toBe(true)
  },
)

async function holds(platform: Platform, name: string): Promise<void> {
  const requirement = requirements.find((candidate) => candidate.name === name)
  if (!requirement) throw new Error(`no requirement is called: ${name}`)
  await platform.reset()
  await requirement.run(platform)
}

/** @throws {Error} the text does not stand there once */
function changed({ file, find, replace }: Mutation): string {
  const parts = readText('lib', file).split(find)
  if (parts.length !== 2) throw new Error(`the text stands in ${file} ${parts.length - 1} times: ${find}`)
  return parts.join(replace)
}

/** Opens a copy of the built emulator and of what it needs, in which one thing may be wrong. */
async function open(name: string, mutation?: Mutation): Promise<Platform & { close(): Promise<void> }> {
  const copy = path.join(workshop, name)
  for (const part of ['emulator', 'protocol', 'errors.js'])
    cpSync(path.join(built, part), path.join(copy, part), { recursive: true })
  if (mutation) writeFileSync(path.join(copy, mutation.file.replace(/ts$/, 'js')), compile(changed(mutation)))
  const { createEmulator } = require(path.join(copy, 'emulator')) as { createEmulator: typeof Create }
  const emulator = createEmulator(configuration)
  await emulator.listen(0)
  return Object.assign(new Platform(emulator), { close: () => emulator.close() })
}
