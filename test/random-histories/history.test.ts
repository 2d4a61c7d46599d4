import path from 'node:path'
import { root } from '../support/sources'
import { bugs, weaken } from './bugs'
import type { History, What } from './entries'
import { play } from './play'
import { judge } from './promises'

/* Short histories of the seeds that have found something. `npm run history` plays long ones, and `--bugs` shows that it finds bugs. */

/** What each seed was the first to find; the tests named here hold it for good. */
const seeds: readonly (readonly [seed: number, found: string])[] = [
  [1, 'trips of the login page were never forgotten: flows/login, "again and again"'],
]
const STEPS = 350

describe('a short history of visits, logins, logouts, thefts and faults', () => {
  const played = new Map<number, History>()
  beforeAll(async () => {
    await Promise.all(seeds.map(async ([seed]) => played.set(seed, await play({ seed, steps: STEPS }))))
  }, 200_000) // a busy machine needs three times as long, and may repeat the last steps

  test.each(seeds)('seed %i, which has found that %s', (seed) => {
    const history = played.get(seed) as History
    expect(history.entries.length).toBeGreaterThan(STEPS)
    expect(history.entries.filter(({ user }) => user !== undefined).length).toBeGreaterThan(20)
    expect(judge(history)).toEqual([])
  })

  test('everything is done in them', () => {
    const doings = new Set([...played.values()].flatMap(({ entries }) => entries.map(({ what }) => what)))
    const all: What[] = ['page', 'script', 'login', 'logout', 'steal']
    expect(all.filter((what) => !doings.has(what))).toEqual([])
  })
})

test('there are at least nine bugs, each with a name of its own', () => {
  expect(new Set(bugs.map(({ name }) => name)).size).toBe(bugs.length)
  expect(bugs.length).toBeGreaterThanOrEqual(9)
})

test.each(bugs)('$name: the text stands there once', (bug) => {
  expect(weaken(path.join(root, 'lib'), bug)).toEqual(expect.any(Map))
})
