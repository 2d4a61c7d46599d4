/**
 * Examines every site of test/examiner/sites, every example and the example app with all checks, and compares the verdicts with
 * test/examiner/table.js. Exit 1 when one is different.
 *
 *   node tools/examiner/sites [--real] [names of sites]
 *
 * Builds dist first. Sessions are old after 5 s; with `--real` after six minutes. Takes two to five minutes a site. EXAMINE_REPORTS names a folder for the reports.
 */
const { execFileSync, spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { differences, table } = require('../../test/examiner/table.js')
const { build, root } = require('../start.js')

const main = path.join(root, 'dist', 'cli', 'main.js')
const isReal = process.argv.includes('--real')
const only = process.argv.slice(2).filter((arg) => !arg.startsWith('--'))
const folder = process.env.EXAMINE_REPORTS ?? fs.mkdtempSync(path.join(os.tmpdir(), 'express-sso2-examine-'))

function examine({ name, cwd, command, config = {}, env = {}, address = 'http://localhost' }, port) {
  const settings = path.join(folder, `${name}.config.json`)
  const seconds = isReal ? 360 : 5
  fs.writeFileSync(settings, JSON.stringify({ ...config, recheckSeconds: seconds }))
  const file = (ending) => path.join(folder, `${name}.${ending}`)
  const args = [main, 'examine', `${address}:${port}`, '--port', String(port + 1), '--config', settings]
  const reports = ['--json', file('json'), '--report', file('html'), '--junit', file('xml')]
  const recheck = { SSO2_RECHECK_SECONDS: String(seconds), RECHECK_SECONDS: String(seconds) }
  const begin = Date.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, [...args, ...reports, '--', ...command], {
    cwd: path.join(root, cwd),
    env: { ...process.env, ...recheck, ...env },
    encoding: 'utf8',
  })
  return { code: status, text: stdout + stderr, seconds: Math.round((Date.now() - begin) / 1000), file }
}

function run() {
  build()
  execFileSync('npx', ['tsc'], { cwd: path.join(root, 'examples', 'nestjs'), stdio: 'inherit' })
  let hasFailed = false
  const sites = table.filter(({ name }) => only.length === 0 || only.includes(name))
  for (const [index, site] of sites.entries()) {
    if (site.program && spawnSync(site.program, ['--version']).error) {
      console.log(`left out     ${site.name}: ${site.program} is not installed`)
      continue
    }
    const { code, text, seconds, file } = examine(site, 31_100 + index * 10)
    const results = fs.existsSync(file('json')) ? JSON.parse(fs.readFileSync(file('json'), 'utf8')).results : undefined
    const wrong = results ? differences(site.name, results) : [`exit code ${code}: ${text.trim()}`]
    hasFailed ||= wrong.length > 0
    console.log(`${wrong.length === 0 ? 'as expected' : 'DIFFERENT  '}  ${site.name}, ${seconds} s`)
    for (const line of wrong) console.log(`    ${line}`)
  }
  console.log(`The reports are in ${folder}`)
  process.exitCode = hasFailed ? 1 : 0
}

run()
