import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { compilations } from './compiles'
import { messageOf, type Trial } from './project'
import { examples } from './runs'

const { pack } = require('../../test/support/pack.js') as { pack(folder: string): { file: string } }

/** @returns 1 where anything of it failed */
export async function main(): Promise<number> {
  const folder = mkdtempSync(path.join(tmpdir(), 'express-sso2-matrix-'))
  let failed = 0
  const tryOut = async ([name, work]: Trial) => {
    const problem = await work().then(() => undefined, messageOf)
    console.log(`${problem === undefined ? 'ok    ' : 'FAILED'}  ${name}`)
    if (problem === undefined) return
    console.error(`${problem}\n`)
    failed += 1
  }
  try {
    const { file } = pack(folder)
    for (const trial of await compilations(path.join(folder, 'compiles'), file)) await tryOut(trial)
    for (const trial of await examples(path.join(folder, 'runs'), file)) await tryOut(trial)
    return failed === 0 ? 0 : 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
