import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const SUITE = `
const { executionAsyncResource } = require('node:async_hooks')
const { appendFileSync } = require('node:fs')
test('one', async () => {
  await null
  appendFileSync('fields', Object.getOwnPropertySymbols(executionAsyncResource()).length + '\\n')
})`

test('promises of the last suite of a process carry no more than those of the first', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-environment-'))
  const testEnvironment = path.join(__dirname, 'environment.js')
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ jest: { testEnvironment } }))
  for (const name of ['one', 'two', 'three']) writeFileSync(path.join(folder, `${name}.test.js`), SUITE)
  try {
    await promisify(execFile)(process.execPath, [require.resolve('jest/bin/jest'), '--runInBand'], { cwd: folder })
    const [first, ...others] = readFileSync(path.join(folder, 'fields'), 'utf8').trim().split('\n')
    expect(others).toEqual([first, first])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
