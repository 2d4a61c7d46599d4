import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

const SUITE = `
const { executionAsyncResource } = require('node:async_hooks')
const { appendFileSync } = require('node:fs')
const shared = require('./shared')
test('one', async () => {
  await null
  appendFileSync('fields', Object.getOwnPropertySymbols(executionAsyncResource()).length + '\\n')
  shared.push('one')
  appendFileSync('shared', shared.length + ' ' + (shared instanceof Array) + '\\n')
})`

test('the last suite of a process is like the first: its promises carry no more, and its modules are its own', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-environment-'))
  const testEnvironment = path.join(__dirname, 'environment.js')
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ jest: { testEnvironment } }))
  writeFileSync(path.join(folder, 'shared.js'), 'module.exports = []')
  for (const name of ['one', 'two', 'three']) writeFileSync(path.join(folder, `${name}.test.js`), SUITE)
  try {
    await promisify(execFile)(process.execPath, [require.resolve('jest/bin/jest'), '--runInBand'], { cwd: folder })
    const read = (file: string) => readFileSync(path.join(folder, file), 'utf8').trim().split('\n')
    const [first, ...others] = read('fields')
    expect(others).toEqual([first, first])
    expect(read('shared')).toEqual(['1 true', '1 true', '1 true'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
