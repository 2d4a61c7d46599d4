/** The cookie of a browser that has logged in here before: its own budget of attempts, which no stranger can spend. Holds no name. Threat F3. */
import { createHash } from 'node:crypto'
import { isMark, makeMark } from '../../decide/binding'
import { setCookie } from '../http/cookies'
import { readCookie } from '../http/request-facts'
import type { Visit } from '../visit'

const DEVICE_SECONDS = 180 * 86_400
/** Accounts that one browser is known to: a household's. */
const MOST = 4
const SEPARATOR = '~'

/** The exact name: one that only looks alike is another account. Threat F13. */
const deviceName = (username: string) => createHash('sha256').update(`device\n${username}`).digest('base64url')

const marksOf = ({ site, req }: Visit) => (readCookie(req, site.config.cookies.device) ?? '').split(SEPARATOR, MOST)

/** The mark of this browser for a user name, if it has one. */
export function deviceMarkOf(visit: Visit, username: string): string | undefined {
  const { config, now } = visit.site
  const name = deviceName(username)
  return marksOf(visit).find((mark) => isMark(config.macKeys(), 'device', name, mark, now(), DEVICE_SECONDS))
}

/** Remembers a browser that has just logged in. */
export function rememberDevice(visit: Visit, username: string): void {
  const { site, res } = visit
  if (res.headersSent) return
  const known = deviceMarkOf(visit, username)
  const others = marksOf(visit).filter((mark) => mark !== '' && mark !== known)
  const mark = makeMark(site.config.macKeys(), 'device', deviceName(username), site.now())
  const value = [mark, ...others].slice(0, MOST).join(SEPARATOR)
  setCookie(res, site.config, site.config.cookies.device, value, DEVICE_SECONDS)
}
