import { flowOf } from '../../lib/emulator/flow/flow'
import type { FlowStep } from '../../lib/emulator/flow/types'
import type { Finding, Result } from '../../lib/examiner/check'
import { failed, notApplicable, notTold, passed, warning } from '../../lib/examiner/finding'
import { jsonReport, junitReport } from '../../lib/examiner/report/files'
import { htmlReport } from '../../lib/examiner/report/html'
import { type Examined, sentenceOf } from '../../lib/examiner/report/summary'
import { terminalReport } from '../../lib/examiner/report/terminal'

/* The reports of results that are made up. */

const text = { good: 'a good site', effect: 'a bad effect', source: 'a source', fix: 'a fix', fixHere: 'an option' }
const resultOf = (name: string, finding: Finding): Result => {
  return { ...finding, name, text, seconds: 1.23456, attempts: [], flow: flowOf(name, [], []) }
}
const run = { siteUrl: 'http://site.localhost', at: 0, seconds: 9.6, notes: ['a note'], hasPackage: true }
const examinedOf = (results: Result[], skipped: Examined['skipped'] = []): Examined => {
  return { ...run, results, skipped }
}

const undecided: Finding = { verdict: 'undecided', reason: 'no page' }

test.each<[findings: Finding[], sentence: string]>([
  [[passed(), warning('odd')], 'No check failed. 1 check gave a warning.'],
  [[warning('odd'), warning('odd')], 'No check failed. 2 checks gave warnings.'],
  [
    [passed(), failed('bad'), undecided],
    '1 of 2 checks failed. Users or their data may be at risk. 1 of the checks could not be judged. They are not counted as passed.',
  ],
  [[notApplicable('no page')], 'No check failed. 1 did not apply: look whether they should.'],
  [
    [notTold(['logoutAll'], 'a page'), notTold(['graceSeconds', 'logoutAll'], 'a page')],
    'No check failed. 2 were not told what they need in examine.json: graceSeconds, logoutAll.',
  ],
])('the sentence about %j', (findings, sentence) => {
  expect(sentenceOf(examinedOf(findings.map((finding) => resultOf('a/b', finding))))).toBe(sentence)
})

const results = [
  resultOf('login/one', failed('it <fails>\u0000 & "more"')),
  resultOf('login/two', failed('again')),
  resultOf('logout/one', warning('odd', 'less')),
  resultOf('logout/two', undecided),
  resultOf('logout/three', passed()),
]
const words = `      Should be: a good site\n      Effect: a bad effect\n      Fix: a fix\n      With express-sso2: an option\n      a source\n`

test('the report of a terminal without colours', () => {
  const all = examinedOf(results, [{ name: 'outage/one', reason: '--skip' }])
  expect(terminalReport(all, false)).toBe(`Examination of http://site.localhost
  a note

login
  ✗ login/one: failed, it <fails>\u0000 & "more"
${words}  ✗ login/two: failed, again
      Fix: as for login/one

logout
  ! logout/one: warning, odd
${words}  ? logout/two: undecided, no page
  ✓ logout/three

left out
  - outage/one: left out (--skip)

warnings
  ! logout/one: odd

failed
  ✗ login/one: it <fails>\u0000 & "more"
  ✗ login/two: again

${sentenceOf(all)}
1 passed, 0 not applicable, 1 undecided, 1 warning, 2 failed, 1 left out; 10 s
`)
})

test('JUnit XML has a failure, a text and a skipped check, all escaped', () => {
  const xml = junitReport(examinedOf(results))
  expect(xml).toContain('<testsuite name="login" tests="2" failures="2" skipped="0">')
  expect(xml).toContain('<testsuite name="logout" tests="3" failures="0" skipped="1">')
  expect(xml).toContain('<failure message="failed: it &lt;fails&gt; &amp; &quot;more&quot;">it &lt;fails&gt; &amp;')
  expect(xml).toContain('name="one" time="1.235">\n      <system-out>odd\na bad effect\nFix: a fix\n')
  expect(xml).toContain('<skipped message="undecided: no page">no page\n')
  expect(xml).toContain('    <testcase classname="logout" name="three" time="1.235" />\n')
})

test('JSON has the steps of the evidence, and HTML names failures with the same fix once', () => {
  const json: { results: unknown[] } = JSON.parse(jsonReport(examinedOf(results)))
  expect(json.results[4]).toMatchObject({ name: 'logout/three', seconds: 1.235, evidence: { steps: [] } })
  expect(htmlReport(examinedOf(results)).match(/<li><a href="#check-login-one">/g)).toHaveLength(1)
  expect(htmlReport(examinedOf(results.slice(2)))).not.toContain('To fix')
})

test('the report of a site that fails everywhere stays below 500 kB, and its diagrams have four lanes', () => {
  const names = [...Array(12).keys()].map((number) => ({ id: `Browser ${number}`, name: `Browser ${number}` }))
  const steps = [...Array(60).keys()].map((atMs): FlowStep => {
    const claims = { cid: 'site', uas: 'x'.repeat(100), sid: 'y'.repeat(40) }
    return { atMs, from: `Browser ${atMs % 12}`, to: 'site', name: `GET /${atMs}`, claims, verdict: 'ok' }
  })
  const flow = flowOf('a flow', [...names, { id: 'site', name: 'Site' }, { id: 'platform', name: 'Platform' }], steps)
  const failures = [...Array(120).keys()].map((number) => {
    const result = resultOf(`login/${number}`, failed('bad'))
    return { ...result, flow, text: { ...text, fix: `fix ${number % 80}` } }
  })
  const report = htmlReport(examinedOf(failures))
  expect([report.length < 500_000, report.includes('more steps')]).toEqual([true, true])
  expect(report.match(/<div class="diagram lanes-3">/g)).toHaveLength(120)
})
