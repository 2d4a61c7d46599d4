/** What the compiler knows of the options' types, and of the declarations that the package is built with. */
import path from 'node:path'
import ts from 'typescript'
import { root } from '../../test/support/sources'

/** Where the type of all options is declared. */
export const OPTIONS = path.join(root, 'lib', 'web', 'sso2-options.ts')

/** The entry points with their declarations. */
const ENTRIES: Readonly<Record<string, string>> = {
  'express-sso2': path.join(root, 'dist', 'index.d.ts'),
  'express-sso2/emulator': path.join(root, 'dist', 'emulator', 'index.d.ts'),
  'express-sso2/testing': path.join(root, 'dist', 'testing', 'index.d.ts'),
}

/** One for all of them: most of it is types of others. */
export function makeProgram(): ts.Program {
  return ts.createProgram([OPTIONS, ...Object.values(ENTRIES)], {
    module: ts.ModuleKind.Node16,
    moduleResolution: ts.ModuleResolutionKind.Node16,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    strict: true,
    exactOptionalPropertyTypes: true,
    esModuleInterop: true,
    types: ['node'],
  })
}

/** @throws {Error} it is not there */
export function sourceOf(program: ts.Program, file: string): ts.SourceFile {
  const source = program.getSourceFile(file)
  if (!source) throw new Error(`${path.relative(root, file)} is missing: npm run build`)
  return source
}
