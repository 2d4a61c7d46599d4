/** Check `session/random-id`: can the values of the cookies be guessed from others, or from what is known of the user? */
import { createHash } from 'node:crypto'
import { type Check, need, noneOf } from '../check'
import type { Stage } from '../stage'
import { sessionOf } from './logged-in'

/** Logins whose session IDs are compared. */
const LOGINS = 6
const MIN_BITS = 64

/** A value of a cookie, and what an attacker may know or guess about its login. */
interface Issued {
  readonly value: string
  readonly guesses: readonly string[]
}

/** Returns the cookies of some logins, two of them of the same account, and of the visits before. */
async function issuedCookies(stage: Stage): Promise<Map<string, Issued[]>> {
  const issued = new Map<string, Issued[]>()
  const account = stage.account()
  for (let login = 0; login < LOGINS; login += 1) {
    const browser = stage.browser()
    const since = Date.now()
    const user = login < 2 ? account : stage.account()
    await stage.openHere(browser, stage.identifiedPage)
    const visit = browser.cookies.all()
    await stage.login(browser, user)
    const guesses = [await stage.sid(browser), user.accountId, user.username, ...timesBetween(since, Date.now())]
    const cookies = browser.cookies.of(new URL(stage.site.userPage))
    for (const [when, list] of [
      ['before a login', visit],
      ['after a login', cookies],
    ] as const)
      for (const { name, value } of list) {
        const key = `${name} ${when}`
        issued.set(key, [...(issued.get(key) ?? []), { value, guesses }])
      }
  }
  return issued
}

/** Returns the seconds and milliseconds of a time, as texts, and the first numbers of a counter. */
function timesBetween(from: number, to: number): string[] {
  const steps = (begin: number, end: number) =>
    Array.from({ length: end - begin + 1 }, (_, step) => String(begin + step))
  return [...steps(from, to), ...steps(Math.floor(from / 1000), Math.floor(to / 1000)), ...steps(0, 1000)]
}

/** Returns the guess whose hash is a part of the value. */
function guessed({ value, guesses }: Issued): string | undefined {
  const digests = (guess: string) =>
    ['md5', 'sha1', 'sha256'].flatMap((name) => {
      const digest = createHash(name).update(guess).digest()
      return [digest.toString('hex'), digest.toString('base64url')]
    })
  return guesses.find((guess) => digests(guess).some((digest) => value.includes(digest)))
}

/** Texts by the number of signs of their alphabet. */
const ALPHABETS: readonly (readonly [size: number, RegExp])[] = [
  [10, /^\d*$/],
  [16, /^[\da-f]*$/i],
  [36, /^[\da-z]*$/],
  [64, /^/],
]

/** Estimates the bits in which each text differs from the one before, from the signs that differ. */
function differingBits(texts: readonly string[]): number {
  const values = texts.map((text) => text.replaceAll('-', '')) // of a UUID
  const [size] = ALPHABETS.find(([, signs]) => values.every((value) => signs.test(value))) ?? [64]
  const differing = values.slice(1).map((value, index) => {
    const before = values[index]
    return [...value].filter((sign, place) => sign !== before?.[place]).length
  })
  const mean = differing.reduce((sum, count) => sum + count, 0) / differing.length
  return (mean / (1 - 1 / size)) * Math.log2(size)
}

/** Returns the problem of a cookie's values. */
function problemOf(key: string, issued: readonly Issued[]): string | undefined {
  const values = issued.map(({ value }) => value)
  const guess = issued.map(guessed).find((one) => one !== undefined)
  if (guess !== undefined) return `the value of ${key} is a hash of ${guess}, which others may know: it is not random`
  if (new Set(values).size < values.length)
    return `two logins have the same value of ${key}: it is made of the user or of the time, and not random`
  const bits = Math.round(differingBits(values))
  return bits < MIN_BITS
    ? `the values of ${key} after ${values.length} logins differ in about ${bits} bits only: they can be guessed`
    : undefined
}

export const randomId: Check = {
  name: 'session/random-id',
  run: async (stage) => {
    const { keys } = await sessionOf(stage)
    const issued = await issuedCookies(stage)
    const isKey = (key: string) => keys.some(({ name }) => key === `${name} after a login`)
    const sessions = [...issued].filter(([key]) => isKey(key))
    need(
      sessions.some(([, list]) => list.length === LOGINS),
      'a login has set no session cookie',
    )
    const problems = sessions.map(([key, list]) => problemOf(key, list))
    // one random cookie is enough, if the login depends on several
    const weak = problems.includes(undefined) ? [] : problems
    return noneOf([...weak, ...bindingProblems(issued)].filter((problem) => problem !== undefined))
  },
}

/** Judges the cookies of before the login that differ from browser to browser, if none of them is random. */
function bindingProblems(issued: ReadonlyMap<string, readonly Issued[]>): (string | undefined)[] {
  const binding = [...issued].filter(
    ([key, list]) =>
      key.endsWith(' before a login') && list.length === LOGINS && new Set(list.map(({ value }) => value)).size > 1,
  )
  const problems = binding.map(([key, list]) => problemOf(key, list))
  return problems.includes(undefined) ? [] : problems
}
