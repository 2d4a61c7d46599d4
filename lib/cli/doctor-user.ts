/** Calls the user path with a made-up access token. The right response is 401, and 404 means a wrong address. */

import { DEFAULT_USER_PATH } from '../config/schema'
import type { DoctorTarget } from '../doctor-target'
import { type Answer, sendCall } from '../remote/http'
import { scopes } from '../remote/platform-api'
import { readGrant, serviceToken } from '../remote/token-endpoint'
import { about, callFailure, emulatorHelp, type Finding, ofFailedCall } from './doctor-finding'
import { doctorTokenEndpoint } from './doctor-token'

const { ok, note, wrong } = about('user path')
const ANSWER_MS = 5000
/** Statuses of a path that does not exist. */
const NOT_THERE = new Set([404, 405, 410, 501])

/**
 * Checks the user path.
 * @param token a random value that the platform has not issued
 */
export async function userFinding(site: DoctorTarget, token: string): Promise<Finding> {
  if (site.namesUsers) return note('not checked, because the site has its own loadUser')
  const { apiUrl, userPath } = site.config
  const url = apiUrl + userPath
  try {
    return await userResponseFinding(site, url, token, await ask(site, url, token))
  } catch (error) {
    return ofFailedCall(error, url, wrong(`GET ${url}: ${callFailure(error)}`, emulatorHelp(error) ?? ADDRESS))
  }
}

const ADDRESS =
  'check apiUrl (SSO2_API_URL), the base address of the REST API, and userPath (SSO2_USER_PATH), the path below it'

function ask({ config: { agent } }: DoctorTarget, url: string, token: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` }
  return sendCall({ operation: 'user', url, method: 'GET', headers, timeoutMs: ANSWER_MS, agent })
}

async function userResponseFinding(
  site: DoctorTarget,
  url: string,
  token: string,
  { status }: Answer,
): Promise<Finding> {
  const says = `GET ${url} answers HTTP ${status}`
  if (NOT_THERE.has(status))
    return wrong(`${says}: there is no REST API at this address`, await betterPath(site, token))
  if (status >= 500) return wrong(`${says}: the REST API fails`)
  if (status === 429) return note(`${says}: the REST API limits requests. Run the doctor again later`)
  if (status < 400) return wrong(`${says} to a made-up access token: this is not the REST API`, ADDRESS)
  if (await distinguishesPaths(site, token)) return ok(`${says} to a made-up access token, as expected`)
  return judgeWithService(site, url, says)
}

/** Suggests the default path if only the default path works. */
async function betterPath(site: DoctorTarget, token: string): Promise<string> {
  const { apiUrl, userPath } = site.config
  if (userPath === DEFAULT_USER_PATH) return ADDRESS
  const { status } = await ask(site, apiUrl + DEFAULT_USER_PATH, token).catch(() => ({ status: 0 }))
  return [401, 403].includes(status)
    ? `SSO2_USER_PATH=${DEFAULT_USER_PATH}   answers as expected (HTTP ${status})`
    : ADDRESS
}

/**
 * Asks for a path that does not exist, because some gateways check the token before the path.
 * @returns whether the gateway reports the wrong path
 */
async function distinguishesPaths(site: DoctorTarget, token: string): Promise<boolean> {
  const { apiUrl, userPath } = site.config
  const { status } = await ask(site, `${apiUrl}${userPath}-${token.slice(0, 12)}`, token)
  return NOT_THERE.has(status)
}

/** Asks again with a service token, which passes such a gateway. The token has no user identity, and not every platform issues one. */
async function judgeWithService(site: DoctorTarget, url: string, says: string): Promise<Finding> {
  const grant = await fetchServiceToken(site)
  const blind = `${says} to each path without a valid access token. The first login shows whether the path is right`
  if (grant === undefined) return note(blind)
  const { status } = await ask(site, url, grant)
  if (status === 401) return note(blind)
  if (NOT_THERE.has(status))
    return wrong(`GET ${url} answers HTTP ${status} to a valid access token: the path does not exist`, ADDRESS)
  return ok(`${says} to a made-up access token, and HTTP ${status} to a valid one without a user`)
}

async function fetchServiceToken(site: DoctorTarget): Promise<string | undefined> {
  try {
    return readGrant(await serviceToken(doctorTokenEndpoint(site), scopes.marketplaceGroups), 0).token
  } catch {
    return undefined
  }
}
