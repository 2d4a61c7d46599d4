import path from 'node:path'
import { outcomeOf, Project, run } from './project'

const compilers = ['5.4', '5.9', '6', '7'] as const
type Compiler = (typeof compilers)[number]

/** How a project is set up: what TypeScript is told, and whether its package.json says `module`. */
interface Mode {
  readonly type: 'commonjs' | 'module'
  settings(compiler: Compiler): object
}

/** CommonJS as in the days of node10, for as long as there is such a thing. */
function commonjs(compiler: Compiler): object {
  if (compiler === '7') return { module: 'commonjs', moduleResolution: 'bundler' }
  const silenced = compiler === '6' ? { ignoreDeprecations: '6.0' } : {}
  return { module: 'commonjs', moduleResolution: 'node10', ...silenced }
}

export const modes: Readonly<Record<string, Mode>> = {
  CommonJS: { type: 'commonjs', settings: commonjs },
  nodenext: { type: 'module', settings: () => ({ module: 'nodenext', moduleResolution: 'nodenext' }) },
  bundler: { type: 'module', settings: () => ({ module: 'esnext', moduleResolution: 'bundler' }) },
}

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  skipLibCheck: false,
  esModuleInterop: true,
  target: 'es2022',
  types: ['node'],
  noEmit: true,
}

/** What one compiler has to say against the consumer in each mode. */
export interface Compiles {
  readonly version: string
  readonly problems: ReadonlyMap<string, string | undefined>
}

/** Compiles the consumer with each compiler in each mode, the types of every package looked at too. */
export async function compileAll(folder: string, tarball: string): Promise<Compiles[]> {
  const project = new Project(folder)
  const named = compilers.map((compiler) => `typescript-${compiler}@npm:typescript@${compiler}`)
  const types = ['express', 'express-session', 'supertest', 'node@20'].map((name) => `@types/${name}`)
  await project.install([tarball, 'express@5', 'supertest@7', ...types, ...named])
  const all: Compiles[] = []
  for (const compiler of compilers) {
    const problems = new Map<string, string | undefined>()
    for (const [name, mode] of Object.entries(modes)) problems.set(name, await compile(project, compiler, name, mode))
    all.push({ version: project.versionOf(`typescript-${compiler}`), problems })
  }
  return all
}

async function compile(project: Project, compiler: Compiler, name: string, { type, settings }: Mode) {
  const place = path.join(compiler, name)
  project.copy('tools/matrix/consumer', place)
  project.write(path.join(place, 'package.json'), { type })
  const compilerOptions = { ...strict, ...settings(compiler) }
  project.write(path.join(place, 'tsconfig.json'), { compilerOptions, files: ['site.ts'] })
  const tsc = project.path('node_modules', `typescript-${compiler}`, 'bin', 'tsc')
  const { problem } = await outcomeOf(() => run(process.execPath, [tsc, '-p', project.path(place)], project.folder))
  return problem
}
