/** What a request says of itself, read once and strictly. */
import { isIP } from 'node:net'
import type { Request } from 'express'
import { isbot } from 'isbot'
import type { Config } from '../config'
import { isDocumentNavigation, isPrefetch, type RequestShape } from '../decide/navigation'
import { judgeReturnTo, withoutFlowParameter } from '../decide/return-to'
import type { Device } from '../protocol/claims'

const MAX_USER_AGENT = 512

function header(req: Request, name: string): string | undefined {
  const value = req.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** The headers that tell whether a redirect can be followed. */
export function shapeOf(req: Request): RequestShape {
  const purpose = [header(req, 'sec-purpose'), header(req, 'purpose'), header(req, 'x-moz')].filter(Boolean).join(' ')
  return {
    method: req.method,
    accept: header(req, 'accept'),
    secFetchDest: header(req, 'sec-fetch-dest'),
    purpose: purpose || undefined,
  }
}

/** Is this request a prefetch? */
export const isPrefetchRequest = (req: Request): boolean => isPrefetch(shapeOf(req))
/** Is this a navigation of a top-level document? */
export const isNavigation = (req: Request): boolean => isDocumentNavigation(shapeOf(req))

/** The default of `shouldIdentify`: a navigation, not by a known bot. */
export function isNavigationByPerson(req: Request): boolean {
  return isNavigation(req) && !isbot(req.headers['user-agent'] ?? '')
}

/** The query as it was written: the site's own query parser is not asked, and a question mark in it is no end. */
export function queryOf(req: Request): URLSearchParams {
  const mark = req.originalUrl.indexOf('?')
  return new URLSearchParams(mark < 0 ? '' : req.originalUrl.slice(mark + 1))
}

/** The page's own public address with everything the visitor wrote; `undefined` where no address of ours can be made of it. */
export function addressOf(req: Request, config: Config): string | undefined {
  const { siteUrl, mountPath, returnPolicy } = config
  const isMounted = mountPath === '' || req.baseUrl.startsWith(mountPath)
  const target = req.originalUrl.startsWith('/') ? req.originalUrl : '/'
  return judgeReturnTo((isMounted ? returnPolicy.origin : siteUrl) + target.replace(/#.*$/, ''), returnPolicy)
}

/** The address without our parameter: the page's name for the loop guard and the end of the flow. */
export function pageOf(req: Request, config: Config): string | undefined {
  const address = addressOf(req, config)
  return address === undefined ? undefined : withoutFlowParameter(address)
}

/** Address and User-Agent for the SSO system: `req.ip` under the site's own `trust proxy`, text without control characters. */
export function deviceOf(req: Request): Device {
  const ip = req.ip?.replace(/^::ffff:(?=\d+\.)/, '') ?? ''
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed
  const agent = (req.headers['user-agent'] ?? '').replace(/[\u0000-\u001f\u007f]/g, '')
  return { ipa: isIP(ip) ? ip : '0.0.0.0', uas: agent.slice(0, MAX_USER_AGENT) || 'unknown' }
}
