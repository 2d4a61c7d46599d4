/** What a request's handler has changed in `req.session`. */
import { readData, type SiteData, withChanges } from '../../decide/session-data'
import { dataIn, type RequestSession } from './request-session'
import { textBehind } from './store'

/** What this request's handler changed in `req.session`, laid over other data of the same session. */
export function changedBy({ isOpen, req }: RequestSession, under: SiteData): SiteData {
  if (!isOpen || !req.session) return under
  const now = asStored(req.session)
  return now === undefined ? under : withChanges(readData(textBehind(req.session))?.data ?? {}, now, under)
}

/** As it would be read again; nothing where it cannot be written (a BigInt, a circle): a login must not fail halfway for that. */
function asStored(session: object): SiteData | undefined {
  try {
    return JSON.parse(JSON.stringify(dataIn(session)))
  } catch {
    return undefined
  }
}
