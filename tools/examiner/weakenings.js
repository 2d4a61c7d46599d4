/**
 * Shows that each check of the examiner can fail: runs it alone against the good site (test/examiner/sites/by-hand.cjs), where it must pass,
 * and against each of its weakenings, where it must not. Prints a table; exit 1 when a check does otherwise.
 *
 *   node tools/examiner/weakenings [parts of names]
 *
 * Takes two to four minutes; with `landing` half of one.
 */
require('../start.js') // requires TypeScript as it is
const { readFileSync } = require('node:fs')
const { Module } = require('node:module')
const path = require('node:path')
const { allChecks } = require('../../lib/examiner/checks/index.ts')
const { runChecks } = require('../../lib/examiner/run.ts')
const { readSettings } = require('../../lib/examiner/settings.ts')
const { besideMade, factsOf } = require('../../test/examiner/beside.ts')
const { table } = require('../../test/examiner/table.js')
const { weakenings } = require('./weakening-list.js')

const AT_ONCE = 12
const RECHECK_SECONDS = 2
/** The check of the grace period waits for its end. For all others the grace period is long. */
const graceSecondsFor = ({ name }) => (name === 'outage/grace-period' ? 1 : 900)
const file = path.join(__dirname, '../../test/examiner/sites/by-hand.cjs')
const source = readFileSync(file, 'utf8')

const { config } = table.find(({ name }) => name === 'by-hand')
const settingsFor = (check) =>
  readSettings({ ...config, recheckSeconds: RECHECK_SECONDS, graceSeconds: graceSecondsFor(check) })

/** The site with some changes. Its console is a text. */
function load(changes, console) {
  let text = source
  for (const { find, replace } of changes) text = text.replace(find, () => replace)
  const module = new Module(file)
  module.filename = file
  module.paths = Module._nodeModulePaths(__dirname)
  const compiled = new Function('module', 'require', 'console', text)
  compiled(module, (name) => module.require(name), console)
  return module.exports
}

/** Runs one check against the site with some changes. `more` are facts about the changed site. */
async function examine(check, changes, more) {
  let output = ''
  const print = (...words) =>
    (output += `${words.map((word) => (typeof word === 'string' ? word : JSON.stringify(word))).join(' ')}\n`)
  const { createSite } = load(changes, { log: print, error: print })
  const env = { RECHECK_SECONDS, GRACE_SECONDS: graceSecondsFor(check) }
  let result
  await besideMade(createSite, { env }, async (platform) => {
    const facts = { ...factsOf(platform.siteUrl), ...more }
    const options = { platform, settings: settingsFor(check), facts, siteOutput: () => output, recoveryMs: 0 }
    ;[result] = await runChecks([check], options)
  })
  return result
}

async function main() {
  const begin = Date.now()
  const parts = process.argv.slice(2)
  const chosen = allChecks.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)))
  const problems = weakenings
    .filter(({ check }) => !allChecks.some(({ name }) => name === check))
    .map(({ check }) => `a weakening names ${check}, which is no check`)
  const finds = weakenings.flatMap(({ changes }) => changes.map(({ find }) => find))
  for (const find of new Set(finds))
    if (source.split(find).length !== 2) problems.push(`not exactly once in by-hand.cjs: ${find}`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const rows = new Map()
  const tasks = chosen.flatMap((check) => {
    const own = weakenings.filter((one) => one.check === check.name)
    if (own.length === 0) problems.push(`${check.name} has no weakening`)
    const goodSite = async () => {
      const { verdict, reason } = await examine(check, [])
      if (verdict !== 'passed') problems.push(`${check.name} on the good site: ${verdict}, ${reason}`)
    }
    const weakSites = own.map((weakening) => async () => {
      const { name, changes, found, facts } = weakening
      const { verdict, reason } = await examine(check, changes, facts)
      rows.set(weakening, `${name} | ${found} | ${verdict}: ${reason} |`)
      if (!`${verdict}: ${reason}`.startsWith(found))
        problems.push(`${check.name}, ${name}: ${verdict} instead of ${found}, ${reason}`)
    })
    return [goodSite, ...weakSites]
  })
  const waiting = tasks.values() // shared, so that each task runs once
  const work = async () => {
    for (const task of waiting) await task()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log('| check | weakening | expected | found |\n| --- | --- | --- | --- |')
  const inOrder = chosen.flatMap(({ name }) => weakenings.filter(({ check }) => check === name))
  for (const one of inOrder) console.log(`| ${one.check} | ${rows.get(one)}`)
  const seconds = Math.round((Date.now() - begin) / 1000)
  console.log(
    `\n${chosen.length} checks and ${rows.size} weakenings in ${seconds} s, ${problems.length} problems\n${problems.join('\n')}`,
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}

main()
