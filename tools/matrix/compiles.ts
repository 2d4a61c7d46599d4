import path from 'node:path'
import { Project, run, type Trial } from './project'

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

const modes: Readonly<Record<string, Mode>> = {
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

/** Compiles the consumer with each compiler in each mode, the types of every package looked at too. */
export async function compilations(folder: string, tarball: string): Promise<Trial[]> {
  const project = new Project(folder)
  const named = compilers.map((compiler) => `typescript-${compiler}@npm:typescript@${compiler}`)
  const types = ['express', 'express-session', 'supertest', 'node@20'].map((name) => `@types/${name}`)
  await project.install([tarball, 'express@5', 'supertest@7', ...types, ...named])
  return compilers.flatMap((compiler) =>
    Object.entries(modes).map(([name, mode]): Trial => {
      const version = project.versionOf(`typescript-${compiler}`)
      return [`TypeScript ${version}, ${name}`, () => compile(project, compiler, name, mode)]
    }),
  )
}

function compile(project: Project, compiler: Compiler, name: string, { type, settings }: Mode): Promise<string> {
  const place = path.join(compiler, name)
  project.copy('tools/matrix/consumer', place)
  project.write(path.join(place, 'package.json'), { type })
  const compilerOptions = { ...strict, ...settings(compiler) }
  project.write(path.join(place, 'tsconfig.json'), { compilerOptions, files: ['site.ts'] })
  const tsc = project.path('node_modules', `typescript-${compiler}`, 'bin', 'tsc')
  return run(process.execPath, [tsc, '-p', project.path(place)], project.folder)
}
