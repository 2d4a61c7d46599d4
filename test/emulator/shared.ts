import { createEmulator, type Emulator, type EmulatorOptions } from '../../lib/emulator'
import { configuration } from './configuration'
import { Platform } from './platform'

/** One emulator in this process for all tests of a suite. Each test begins with what is configured. */
export function sharedEmulator(options: EmulatorOptions = configuration) {
  const emulator = createEmulator(options)
  const others: Emulator[] = []
  beforeAll(() => emulator.listen())
  beforeEach(() => emulator.reset())
  afterEach(() => Promise.all(others.splice(0).map((one) => one.close())))
  afterAll(() => emulator.close())
  const another = async (other: EmulatorOptions) => {
    const made = createEmulator(other)
    others.push(made)
    await made.listen()
    return { made, there: new Platform(made) }
  }
  return { emulator, platform: new Platform(emulator), another }
}
