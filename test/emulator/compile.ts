import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { transformSync } from '@swc/core'
import { root, sources } from '../support/sources'

/** The part of the package that the emulator needs: its own folder, the command with its check of addresses, decisions, the protocol, and the errors. */
const parts = ['emulator', 'cli', 'config/validators.ts', 'decide', 'protocol', 'errors.ts']

/** Sources by path below `lib`. */
export type Sources = ReadonlyMap<string, string>

/** A folder of compiled packages, removed at the end. */
export class Workshop {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'sso2-emulator-'))
  private readonly compiled = new Map<string, string>()

  constructor() {
    // Packages are found from here as they are from the repository.
    symlinkSync(path.join(root, 'node_modules'), path.join(this.folder, 'node_modules'), 'dir')
  }

  /** Writes the sources as CommonJS into a folder of their own; a source that was compiled before is not again. */
  build(name: string, changed: Sources): string {
    const target = path.join(this.folder, name)
    for (const [file, source] of changed) {
      const output = path.join(target, file.replace(/\.ts$/, '.js'))
      mkdirSync(path.dirname(output), { recursive: true })
      writeFileSync(output, this.compile(source))
    }
    return target
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  private compile(source: string): string {
    const known = this.compiled.get(source)
    if (known !== undefined) return known
    const { code } = transformSync(source, {
      jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
      module: { type: 'commonjs' },
      isModule: true,
      swcrc: false,
    })
    this.compiled.set(source, code)
    return code
  }
}

/** The sources as they are in the repository. */
export const readSources = (): Sources =>
  new Map([...sources].filter(([file]) => parts.some((part) => file === part || file.startsWith(`${part}/`))))
