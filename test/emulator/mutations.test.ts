import path from 'node:path'
import type { createEmulator as Create } from '../../lib/emulator'
import { readSources, type Sources, Workshop } from './compile'
import { configuration } from './configuration'
import { type Mutation, mutations } from './mutations'
import { Platform } from './platform'
import { requirements } from './requirements'

/*
 * Is the conformance suite worth anything? Each mutation makes one thing wrong in a copy of the emulator; the requirement
 * that it breaks must fail there. The suite itself shows that the same requirement holds for the emulator as it is.
 */

let workshop: Workshop
let sources: Sources

beforeAll(() => {
  workshop = new Workshop()
  sources = readSources()
})
afterAll(() => workshop.remove())

test('each mutation has a name of its own', () => {
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length)
})

test('an emulator that was copied and not changed breaks none of the requirements', async () => {
  const platform = await open('unchanged', sources)
  for (const name of new Set(mutations.map(({ caughtBy }) => caughtBy))) await holds(platform, name)
  await platform.close()
})

test.each(mutations.map((mutation, index) => [mutation.name, mutation, index] as const))(
  'caught: %s',
  async (_name, mutation, index) => {
    const platform = await open(`mutation-${index}`, mutate(mutation))
    const broken = await holds(platform, mutation.caughtBy).then(
      () => false,
      () => true,
    )
    await platform.close()
    expect(broken).toBe(true)
  },
)

function mutate({ file, find, replace }: Mutation): Sources {
  const name = path.join('emulator', 'http', file)
  const [before, after, ...more] = (sources.get(name) ?? '').split(find)
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${file} does not have exactly once: ${find}`)
  }
  return new Map(sources).set(name, before + replace + after)
}

async function holds(platform: Platform, name: string): Promise<void> {
  const requirement = requirements.find((candidate) => candidate.name === name)
  if (!requirement) throw new Error(`no requirement is called: ${name}`)
  await platform.reset()
  await requirement.run(platform)
}

async function open(name: string, changed: Sources): Promise<Platform & { close(): Promise<void> }> {
  const folder = workshop.build(name, changed)
  const { createEmulator } = require(path.join(folder, 'emulator')) as { createEmulator: typeof Create }
  const emulator = createEmulator(configuration)
  await emulator.listen(0)
  return Object.assign(new Platform(emulator), { close: () => emulator.close() })
}
