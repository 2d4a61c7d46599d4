import { type Entry, type Played, play } from './history'

/*
 * Random histories, and what must be true of every one of them. `HISTORY_SECONDS=600 npx jest test/faults/history` plays
 * longer ones and a new one; a seed that fails is worth a line in `seeds`.
 */
const SECONDS = Number(process.env['HISTORY_SECONDS'] ?? 6)
const seeds = [1, 2, 3, 4, ...(process.env['HISTORY_SECONDS'] ? [Math.floor(Date.now() / 1000)] : [])]

/** Checked at most every six minutes, and served at most fifteen more while nobody answers. Promise I4. */
const LONGEST_SECONDS = 360 + 900

const pages = ({ history }: Played) => history.filter(({ what }) => what === 'page')
const of = ({ history }: Played, agent: number, what: Entry['what']) =>
  history.filter((entry) => entry.agent === agent && entry.what === what)

/** I3: whoever is shown has logged in from this very browser before. */
function strangers(played: Played): Entry[] {
  return pages(played).filter(
    ({ agent, user, end }) =>
      user !== undefined && !of(played, agent, 'login').some((login) => login.user === user && login.begin < end),
  )
}

/** I5: a page that began after a logout had returned shows nobody, unless a login began meanwhile. */
function revived(played: Played): Entry[] {
  return pages(played).filter(({ agent, user, begin, end }) => {
    if (user === undefined) return false
    const before = of(played, agent, 'logout').filter((logout) => logout.end < begin && logout.status === 200)
    const latest = before.at(-1)
    return (
      latest !== undefined && !of(played, agent, 'login').some((login) => login.end > latest.begin && login.begin < end)
    )
  })
}

/** I4: after all SSO sessions have ended nobody is shown any longer than the check and its grace allow. */
function overstayed(played: Played): Entry[] {
  const ends = played.history.filter(({ what }) => what === 'terminate')
  return pages(played).filter(({ agent, user, clock, end }) => {
    if (user === undefined) return false
    const logins = of(played, agent, 'login').filter((login) => login.begin < end)
    const since = Math.max(...logins.map((login) => login.end))
    return ends.some((ended) => ended.begin > since && clock - ended.clock > LONGEST_SECONDS)
  })
}

describe('a history of random visits, logins, logouts, thefts and faults', () => {
  const played = new Map<number, Played>()
  beforeAll(
    async () => {
      await Promise.all(seeds.map(async (seed) => played.set(seed, await play(seed, SECONDS * 1000))))
    },
    SECONDS * 1000 + 120_000,
  )

  test.each(seeds)('seed %i', (seed) => {
    const it = played.get(seed) as Played
    const doings = new Set(it.history.map(({ what }) => what))
    expect(pages(it).length).toBeGreaterThan(20)
    expect([doings.has('login'), doings.has('logout')]).toEqual([true, true])
    expect(it.history.filter(({ what, status }) => what === 'page' && status >= 500)).toEqual([])
    expect(strangers(it)).toEqual([])
    expect(revived(it)).toEqual([])
    expect(overstayed(it)).toEqual([])
    expect(it.authenticates).toBeLessThanOrEqual(it.history.filter(({ what }) => what === 'login').length)
    expect(it.last.filter((view) => view?.status === undefined)).toEqual([])
  })
})
