#!/usr/bin/env node
/*
 * What strangers would find wrong with the package: publint and arethetypeswrong look at the packed file, knip at what nobody uses.
 * A line each, and what was found; exit 1 on any finding.
 *
 *   npm run check:package      builds dist first. Takes half a minute
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../test/support/pack.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = path.join(root, 'node_modules', '.bin')
const options = {
  cwd: root,
  encoding: 'utf8',
  env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}` },
}

/** Each has findings where its exit code is not 0. */
const checks = [
  {
    name: 'publint: fields and files of the packed file',
    run: (file) => spawnSync('publint', [file, '--strict'], options),
  },
  {
    name: 'attw: types for node10, node16 and bundlers',
    run: (file) => spawnSync('attw', [file, '--no-emoji'], options),
  },
  {
    name: 'knip: files, exports and dependencies that nobody uses',
    run: () => spawnSync('knip', ['--no-progress', '--treat-config-hints-as-errors'], options),
  },
]

function isClean({ name, run }, file) {
  const { status, stdout, stderr, error } = run(file)
  console.log(`${name.padEnd(56)} ${status === 0 ? 'clean' : 'FINDINGS'}`)
  if (status !== 0) console.log(`\n${error?.message ?? `${stdout}${stderr}`.trim()}\n`)
  return status === 0
}

function main(place) {
  const { file, entries, bytes } = pack(place)
  console.log(`${path.basename(file)}: ${entries} files, ${Math.round(bytes / 1000)} kB\n`)
  // all of them, whatever the first one finds
  return checks.map((check) => isClean(check, file)).every(Boolean) ? 0 : 1
}

const place = mkdtempSync(path.join(os.tmpdir(), 'express-sso2-check-'))
try {
  process.exitCode = main(place)
} finally {
  rmSync(place, { recursive: true, force: true })
}
