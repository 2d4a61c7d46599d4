import { createEmulator, type Emulator } from '../../../lib/emulator'
import { configuration } from '../configuration'
import { Platform } from '../platform'
import { rules } from '.'

/* The rules of the conformance suite against an emulator in this process, where mutants of it can be tried. */

let emulator: Emulator
let platform: Platform

beforeAll(async () => {
  emulator = createEmulator(configuration)
  platform = new Platform((await emulator.listen()).url)
})
beforeEach(() => platform.reset())
afterAll(() => emulator.close())

test.each(rules.map((rule) => [rule.table, rule.name, rule] as const))('%s: %s', (_table, _name, rule) =>
  rule.run(platform),
)
