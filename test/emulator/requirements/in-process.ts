import { sharedEmulator } from '../shared'
import { requirements } from '.'

/* The requirements of the conformance suite against an emulator in this process, where mutants of it can be tried. */

const { platform } = sharedEmulator()

test.each(requirements.map((requirement) => [requirement.table, requirement.name, requirement] as const))(
  '%s: %s',
  (_table, _name, requirement) => requirement.run(platform),
)
