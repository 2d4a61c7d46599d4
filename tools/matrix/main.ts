import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Compiles, compileAll, modes } from './compiles'
import { type Runs, runAll } from './runs'

const { pack } = require('../../test/support/pack.js') as { pack(folder: string): { file: string } }

/** @returns 1 where anything of it failed */
export async function main(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-matrix-'))
  try {
    const { file } = pack(folder)
    const compiles = await compileAll(path.join(folder, 'compiles'), file)
    const runs = await runAll(path.join(folder, 'runs'), file)
    console.log(tableOf(compiles, runs))
    const problems = problemsOf(compiles, runs)
    for (const problem of problems) console.error(`\n${problem}`)
    return problems.length === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const said = (problem: string | undefined) => (problem === undefined ? 'ok' : 'FAILED')

function tableOf(compiles: readonly Compiles[], runs: readonly Runs[]): string {
  const expresses = [...(runs[0]?.outcomes.keys() ?? [])]
  const rows = [
    ['', ...Object.keys(modes)],
    ...compiles.map(({ version, problems }) => [`TypeScript ${version}`, ...[...problems.values()].map(said)]),
    ['', ...expresses.map((version) => `Express ${version}`)],
    ...runs.map(({ version, outcomes }) => [
      `Node.js ${version}`,
      ...[...outcomes.values()].map(({ problem, seconds }) => `${said(problem)}, ${seconds} s`),
    ]),
  ]
  const lineOf = (row: readonly string[]) => row.map((cell) => cell.padEnd(24)).join('')
  return rows.map((row) => lineOf(row).trimEnd()).join('\n')
}

function problemsOf(compiles: readonly Compiles[], runs: readonly Runs[]): string[] {
  const ofCompiles = compiles.flatMap(({ version, problems }) =>
    [...problems].flatMap(([mode, problem]) => (problem ? `TypeScript ${version}, ${mode}:\n${problem}` : [])),
  )
  const ofRuns = runs.flatMap(({ version, outcomes }) =>
    [...outcomes].flatMap(([express, { problem }]) =>
      problem ? `Node.js ${version}, Express ${express}:\n${problem}` : [],
    ),
  )
  return [...ofCompiles, ...ofRuns]
}
