/**
 * Shows that the examiner names faults of real developers: `npm run examine:faults [-- parts of names]`.
 * Hides each fault of `faults.js` in the good site in Python, examines the site, and compares the finding with the table.
 * `--file <faults.js>` takes another table.
 */
const { spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

const AT_ONCE = Number(process.env.AT_ONCE ?? 4)
const root = path.join(__dirname, '..', '..')
const main = path.join(root, 'dist', 'cli', 'main.js')
const source = fs.readFileSync(path.join(__dirname, 'sites', 'good.py'), 'utf8')
const args = process.argv.slice(2)
const at = args.indexOf('--file')
const [, file] = at < 0 ? [] : args.splice(at, 2)
const { faults } = require(file ? path.resolve(file) : './faults.js')
const folder = process.env.EXAMINE_REPORTS ?? fs.mkdtempSync(path.join(os.tmpdir(), 'express-sso2-faults-'))
const config = path.join(folder, 'examine.json')
fs.writeFileSync(config, JSON.stringify({ pages: { sensitive: '/sensitive' }, recheckSeconds: 4, graceSeconds: 30 }))

/** Returns the site with a fault. */
function withFault({ name, changes }) {
  let text = source
  for (const [find, replace] of changes) {
    if (text.split(find).length !== 2) throw new Error(`${name}: not exactly once in good.py: ${find}`)
    text = text.replace(find, () => replace)
  }
  return text
}

/** Examines the site with a fault. Returns the results that did not pass. */
async function examine(fault, number) {
  const name = path.join(folder, `fault-${number}`)
  fs.writeFileSync(`${name}.py`, withFault(fault))
  const port = 31_500 + number * 10
  const words = [main, 'examine', `http://localhost:${port}`, '--port', String(port + 1), '--config', config]
  const only = process.env.ALL ? [] : ['--only', fault.check]
  const reports = ['--json', `${name}.json`, '--report', `${name}.html`]
  const env = { ...process.env, RECHECK_SECONDS: '4', GRACE_SECONDS: '30' }
  const child = spawn(process.execPath, [...words, ...only, ...reports, '--', 'python3', `${name}.py`], { env })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk))
  await new Promise((done) => child.once('close', done))
  fs.writeFileSync(`${name}.txt`, text)
  if (!fs.existsSync(`${name}.json`)) return [{ name: 'the examination', verdict: 'not made', reason: text.trim() }]
  const { results } = JSON.parse(fs.readFileSync(`${name}.json`, 'utf8'))
  return results.filter(({ verdict }) => !['passed', 'not applicable'].includes(verdict))
}

async function run() {
  const chosen = faults.filter(({ name }) => args.length === 0 || args.some((part) => name.includes(part)))
  const waiting = chosen.map((fault, number) => ({ fault, number }))
  let missed = 0
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { fault, number } = next
      const found = await examine(fault, number)
      const own = found.find(({ name, reason }) => name === fault.check && fault.says.test(reason))
      if (!own) missed += 1
      console.log(`${own ? 'found ' : 'MISSED'}  ${number} ${fault.name}`)
      for (const { name, verdict, reason } of found) console.log(`    ${name}: ${verdict}, ${reason.slice(0, 300)}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log(`${chosen.length - missed} of ${chosen.length} faults found. The reports are in ${folder}`)
  process.exitCode = missed === 0 ? 0 : 1
}

run()
