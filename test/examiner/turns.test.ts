import { type Check, passed } from '../../lib/examiner/check'
import { runChecks } from '../../lib/examiner/run'
import { readSettings } from '../../lib/examiner/settings'
import type { Stage } from '../../lib/examiner/stage'
import { beside } from './beside'

const { factsOf } = require('./facts.js')

/* Checks take turns: while one waits, others act. */

const waiting = (...times: number[]) => {
  return ({ run }: Stage) => Promise.all(times.map((ms) => (ms > 0 ? run.wait(ms) : Promise.reject(new Error()))))
}

test.each([
  ['parts of a check wait at once', waiting(10, 60), 'passed'],
  ['a part of a check fails while another one waits', waiting(20, 0), 'undecided'],
])('%s → the next check has its turn', (_what, act, verdict) =>
  beside(undefined, async (platform) => {
    const checks = [act, waiting(40)].map((run, index): Check => {
      return { name: `status/${['old', 'young'][index]}`, isSlow: true, run: (stage) => run(stage).then(passed) }
    })
    const options = { platform, settings: readSettings({}), facts: factsOf(platform.siteUrl) }
    const results = await runChecks(checks, options)
    expect(results.map((result) => result.verdict)).toEqual([verdict, 'passed'])
  }),
)
