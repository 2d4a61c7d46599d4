/** Requests the running site at `siteUrl`, and checks that the site and the doctor have the same configuration. */
import type { Config } from '../config'
import { DOCTOR_HEADER, makeDoctorSignature, type SiteReport, siteReport } from '../decide/doctor-protocol'
import { type Answer, sendCall } from '../remote/http'
import { connectionAdvice } from './connection-advice'
import { about, addressOrigin, callFailure, type Finding, ofFailedCall, STORE, unavailableAt } from './doctor-finding'
import { FORGED_ADDRESS, proxyFinding } from './doctor-proxy'

const ANSWER_MS = 5000
const { ok, note, wrong } = about('site')

/**
 * Requests the landing page and yields the findings about the response.
 * @param offset this machine's clock minus the SSO system's, in seconds
 * @param onReport called with the site's report, if the site sends one
 */
export async function* siteFindings(
  config: Config,
  offset: number | undefined,
  onReport: (report: SiteReport) => void,
): AsyncGenerator<Finding> {
  const url = landingAddress(config)
  const now = Math.floor(Date.now() / 1000)
  const headers = {
    accept: 'application/json',
    [DOCTOR_HEADER]: makeDoctorSignature(config.macKeys(), now),
    'x-forwarded-for': FORGED_ADDRESS,
  }
  try {
    const answer = await sendCall({
      operation: 'site',
      url,
      method: 'GET',
      headers,
      timeoutMs: ANSWER_MS,
    })
    const report = reportOf(answer)
    if (!report) return yield landingResponseFinding(config, url, answer)
    onReport(report)
    yield* judgeReport(config, report)
    const finding = siteClockFinding(config, answer, offset)
    if (finding) yield finding
  } catch (error) {
    yield ofFailedCall(error, url, siteUnreachable(url, error))
  }
}

/** Returns the address of the landing page, or of the front page if the site serves the landing page itself. */
export const landingAddress = ({ siteUrl, routes }: Config): string => siteUrl + (routes.landing || '/')

/** Returns the configuration with the options that the running site has in code, which a doctor without --module does not know. */
export function configAsReported(config: Config, { options }: SiteReport): Config {
  if (!options) return config
  const { login, identify, binding } = options
  return { ...config, identify, routes: { ...config.routes, login }, cookies: { ...config.cookies, binding } }
}

function reportOf({ status, text }: Answer): SiteReport | undefined {
  if (status !== 200) return undefined
  try {
    return siteReport.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

function siteUnreachable(url: string, error: unknown): Finding {
  return wrong(
    `GET ${url}: ${callFailure(error)}`,
    connectionAdvice(Object(error).reason) ??
      'check siteUrl (SSO2_SITE_URL): the address at which browsers reach the site',
  )
}

/** Explains a response without the doctor's report: from another program, or from a site with another `sessionSecret`. */
function landingResponseFinding({ routes, siteUrl }: Config, url: string, { status, headers }: Answer): Finding {
  const server = String(headers.server ?? headers['x-powered-by'] ?? '')
  const says = `GET ${url} answers HTTP ${status}${server && /^[\w ./-]{1,40}$/.test(server) ? ` from ${server}` : ''}`
  if (routes.landing === false) return note(`${says}; routes.landing is false, so the doctor cannot ask for more`)
  if (headers['x-sso2-emulator'] !== undefined)
    return wrong(`${says}: this is the emulator, not the site`, "set siteUrl (SSO2_SITE_URL) to the site's own address")
  // the package's landing page gives the same response to a request without a token
  if (status === 400 && headers['referrer-policy'] === 'no-referrer')
    return note(
      `${says}: the site has another sessionSecret, or an older version of this package`,
      'run the doctor with the environment of the site: sessionSecret (SSO2_SESSION_SECRET)',
    )
  if (status >= 300 && status < 400) return elsewhere(siteUrl, says, String(headers.location))
  if (status === 502 || status === 503 || status === 504)
    return unavailableAt(
      addressOrigin(siteUrl),
      wrong(`${says}: the proxy does not reach the site`, 'start the site, or correct the proxy'),
    )
  const path = new URL(siteUrl).pathname.replace(/\/$/, '')
  const mount = path && `('${path}', sso), or app.use(sso) if the proxy removes the path,`
  return wrong(
    `${says}: this is not the landing page of this package`,
    `app.use${mount || '(sso)'} before pages and error pages. The proxy must pass the path on. If routes are set in code: --module ./sso.js`,
  )
}

function elsewhere(siteUrl: string, says: string, location: string): Finding {
  const target = URL.canParse(location, siteUrl) ? new URL(location, siteUrl) : undefined
  return target && target.origin !== new URL(siteUrl).origin
    ? wrong(`${says} and redirects to ${target.origin}`, `SSO2_SITE_URL=${target.origin}   if the site is there`)
    : wrong(`${says}: a proxy redirects the landing page`, 'the proxy must pass the path to the application')
}

function* judgeReport(config: Config, report: SiteReport): Generator<Finding> {
  const { clientId, siteUrl, sso, store } = report
  yield clientId === config.clientId && siteUrl === config.siteUrl
    ? ok(`${config.siteUrl} is this site, client "${clientId}"`)
    : wrong(
        `the site at ${config.siteUrl} runs with client "${clientId}" and siteUrl ${siteUrl}`,
        'run the doctor with the environment of the site: siteUrl (SSO2_SITE_URL), clientId (SSO2_CLIENT_ID)',
      )
  if (store === 'unavailable')
    yield unavailableAt(STORE, wrong('the site cannot reach its Redis: pages load without a user', 'see Redis'))
  if (sso === 'unavailable')
    yield unavailableAt(
      addressOrigin(config.ssoUrl),
      wrong(
        'the calls of the site to the SSO system fail: it redirects no browser to Identify',
        'see client and landing page',
      ),
    )
  yield proxyFinding(report, config.isSecure)
}

/** Checks the clock of the site's machine, because the site can run on another machine than the doctor. */
function siteClockFinding({ clockToleranceSeconds }: Config, { headers }: Answer, offset = 0): Finding | undefined {
  const date = Date.parse(String(headers.date))
  const ahead = Math.round((date - Date.now()) / 1000) + offset
  if (!(Math.abs(ahead) > clockToleranceSeconds + 1) || Math.abs(ahead - offset) <= 1) return undefined
  const says = `the site's machine is ${Math.abs(ahead)} s ${ahead < 0 ? 'behind' : 'ahead of'} the SSO system`
  return wrong(says, 'sudo timedatectl set-ntp true   on that machine')
}
