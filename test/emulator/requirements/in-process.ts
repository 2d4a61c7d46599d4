import { createEmulator, type Emulator } from '../../../lib/emulator'
import { configuration } from '../configuration'
import { Platform } from '../platform'
import { requirements } from '.'

/* The requirements of the conformance suite against an emulator in this process, where mutants of it can be tried. */

let emulator: Emulator
let platform: Platform

beforeAll(async () => {
  emulator = createEmulator(configuration)
  platform = new Platform((await emulator.listen()).url)
})
beforeEach(() => platform.reset())
afterAll(() => emulator.close())

test.each(requirements.map((requirement) => [requirement.table, requirement.name, requirement] as const))(
  '%s: %s',
  (_table, _name, requirement) => requirement.run(platform),
)
