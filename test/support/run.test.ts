import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/* each run starts three programs, four runs at once, on a machine that may be busy */
jest.setTimeout(180_000)

/** What a run of all tests comes to where there are two suites, each in its process, one of which does what is given. */
async function run(body: string, options: object = {}): Promise<{ code: number; said: string }> {
  const env = { ...process.env, TEST_HANGS_MS: '15000' }
  const folder = mkdtempSync(path.join(tmpdir(), 'sso2-run-'))
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ jest: { maxWorkers: 2, workerGracefulExitTimeout: 20_000, ...options } }),
  )
  writeFileSync(path.join(folder, 'one.test.js'), `test('one', () => { ${body} })`)
  writeFileSync(path.join(folder, 'two.test.js'), `test('two', () => {})`)
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, [path.join(__dirname, 'jest.js')], { cwd: folder, env }, (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), said: stdout + stderr })
      })
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test.concurrent('a run of tests that pass and say nothing is well', async () => {
  const { code, said } = await run('')
  expect([code, said]).toEqual([0, expect.stringContaining('2 passed')])
})

test.concurrent('a run of tests that pass fails when they write to the screen, and names the lines', async () => {
  const ways = [
    "console.warn('one word')",
    "process.stderr.write('two words\\n')",
    "process.stdout.write('three words\\n')",
  ]
  const { code, said } = await run(ways.join('; '))
  const [, named = ''] = said.split('are quiet')
  expect([code, ['one word', 'two words', 'three words'].filter((words) => !named.includes(words))]).toEqual([1, []])
})

test.concurrent('a run of tests that pass fails when one of them leaves something open', async () => {
  const { code, said } = await run("require('node:net').createServer().listen(0)", { workerGracefulExitTimeout: 2000 })
  expect([code, said]).toEqual([1, expect.stringMatching(/are quiet.*\nA worker process has failed to exit/s)])
})

test.concurrent('a run in which a test fails tells of that alone', async () => {
  const { code, said } = await run("console.warn('a word'); throw new Error('it fails')")
  expect([code, said]).toEqual([1, expect.stringContaining('it fails')])
  expect(said).not.toContain('are quiet')
})

test.concurrent('a run in which a suite hangs fails, and names the suite and what is open', async () => {
  const support = (name: string) => path.join(__dirname, name)
  const { code, said } = await run("require('node:net').createServer().listen(0); return new Promise(() => {})", {
    testTimeout: 1_000_000,
    testEnvironment: support('environment.js'),
    reporters: ['default', support('hang-reporter.js')],
  })
  expect([code, said]).toEqual([1, expect.stringMatching(/HANGS .*one\.test\.js.*one\.test\.js has open: .*tcp/s)])
})
