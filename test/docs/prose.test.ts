import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const program = path.join(__dirname, 'prose.js')
const budgets: Record<string, number> = require('./prose-budgets.json')
const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })

test('the prose of documents and comments is within its budgets', () => {
  const { status, stdout } = run()
  expect([status, stdout.split('\n').filter((line) => line.startsWith('OVER'))]).toEqual([0, []])
})

test('a figure that is worse than its budget fails, and a figure without a budget too', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-prose-'))
  try {
    const { 'words a sentence': _words, ...others } = budgets
    const file = path.join(folder, 'budgets.json')
    writeFileSync(file, JSON.stringify({ ...others, 'it, this, one in 1,000 words': 0.01 }))
    const { status, stdout } = run('--budgets', file)
    const over = stdout.split('\n').filter((line) => line.startsWith('OVER'))
    expect([status, over.map((line) => line.split(/ {2,}/).slice(1, 3))]).toEqual([
      1,
      [
        ['documents', 'words a sentence'],
        ['documents', 'it, this, one in 1,000 words'],
        ['comments', 'words a sentence'],
        ['comments', 'it, this, one in 1,000 words'],
      ],
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
