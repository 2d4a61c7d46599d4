/**
 * Lists the doctor's checks in order, with the servers that each check needs.
 * A server that does not respond is reported once, and the checks that need the server are skipped.
 * The checks themselves are in the other `doctor-*.ts` files.
 */
import { randomUUID } from 'node:crypto'
import type { Config } from '../config'
import { isLoopback } from '../config/validators'
import type { DoctorTarget } from '../doctor-target'
import { Sso2Client } from '../remote/sso2-client'
import { addressFinding } from './doctor-address'
import { about, addressOrigin, type Finding, STORE } from './doctor-finding'
import { formFindings } from './doctor-form'
import { identifyFinding } from './doctor-identify'
import { longFindings, longUnasked } from './doctor-long'
import { isBehindProxy } from './doctor-proxy'
import { redisFindings } from './doctor-redis'
import { configAsReported, siteFindings } from './doctor-site'
import { clientFinding, ssoClockFinding } from './doctor-sso'
import { tokenFinding } from './doctor-token'
import { userFinding } from './doctor-user'
import { visitFindings } from './doctor-visit'

type Findings = Promise<Finding> | AsyncIterable<Finding> | Iterable<Finding>

interface Check {
  /** Names of the findings that the check reports. */
  readonly subjects: readonly string[]
  /** Servers that have to respond. Without a response, the check is skipped. */
  readonly needs: readonly string[]
  readonly look: () => Findings
}

/**
 * Runs all checks of a site.
 * @param hasLongAddresses sends long addresses too. They fill access logs
 */
export async function* checkDoctorTarget(site: DoctorTarget, hasLongAddresses: boolean): AsyncGenerator<Finding> {
  const { config } = site
  yield about('configuration').ok(`complete, for ${config.siteUrl}`)
  const mode = modeFinding(config, process.env['NODE_ENV'])
  if (mode) yield mode
  const client = makeDoctorClient(config)
  try {
    yield* inTurn([
      ...addressChecks(config),
      ...platformChecks(site, client),
      ...siteChecks(config, client, hasLongAddresses),
    ])
  } finally {
    client.close()
  }
}

/**
 * Notes that a site which users open does not run in production mode.
 * @returns undefined if NODE_ENV is right, or if the site is on the machine of a developer
 */
function modeFinding({ siteUrl, isSecure }: Config, mode = ''): Finding | undefined {
  if (mode === 'production' || !isSecure || isLoopback(new URL(siteUrl).hostname)) return undefined
  const is = mode === '' ? 'is not set' : `is ${JSON.stringify(mode.slice(0, 40))}`
  return about('configuration').note(
    `NODE_ENV ${is}, though siteUrl begins with https: the package accepts sessions in memory and the emulator`,
    'NODE_ENV=production   for doctor and site, if users open this address',
  )
}

function makeDoctorClient(config: Config): Sso2Client {
  const { ssoUrl, clientId, organisationId, ssoIdentifier, timeoutMs, clockToleranceSeconds, clock, agent } = config
  const clientSecret = config.clientSecrets()
  const options = { ssoUrl, clientId, organisationId, ssoIdentifier, timeoutMs, clockToleranceSeconds, clock, agent }
  return new Sso2Client({ ...options, clientSecret })
}

function addressChecks({ ssoUrl, tokenUrl, apiUrl, siteUrl, agent }: Config): Check[] {
  return Object.entries({ ssoUrl, tokenUrl, apiUrl, siteUrl }).flatMap(([name, address]) =>
    address === undefined
      ? []
      : [
          {
            subjects: [name],
            needs: [addressOrigin(address)],
            look: () => addressFinding(name, new URL(address), agent),
          },
        ],
  )
}

function platformChecks(site: DoctorTarget, client: Sso2Client): Check[] {
  const { config, exchangeTicket, namesUsers } = site
  const { ssoUrl, tokenUrl, apiUrl } = config
  const needs = [addressOrigin(ssoUrl)]
  return [
    { subjects: ['client'], needs, look: () => clientFinding(config, client, randomUUID()) },
    { subjects: ['clock'], needs, look: async () => ssoClockFinding(config, client.clockOffsetSeconds) },
    { subjects: ['landing page'], needs, look: () => identifyFinding(config, client) },
    {
      subjects: ['token endpoint'],
      needs: exchangeTicket || tokenUrl === undefined ? [] : [addressOrigin(tokenUrl)],
      look: () => tokenFinding(site, randomUUID()),
    },
    {
      subjects: ['user path'],
      needs: namesUsers ? [] : [addressOrigin(apiUrl)],
      look: () => userFinding(site, randomUUID()),
    },
  ]
}

function siteChecks(config: Config, client: Sso2Client, hasLongAddresses: boolean): Check[] {
  let running = config // with the options that the site reports
  let isProxied = false
  const site = addressOrigin(config.siteUrl)
  const visit = [site, addressOrigin(config.ssoUrl), STORE]
  return [
    { subjects: ['Redis'], needs: [], look: () => redisFindings(config.redis) },
    {
      subjects: ['site', 'proxy'],
      needs: [site],
      look: () =>
        siteFindings(config, client.clockOffsetSeconds, (report) => {
          running = configAsReported(config, report)
          isProxied = isBehindProxy(report)
        }),
    },
    {
      subjects: ['first visit', 'return address', 'cookies', 'caches'],
      needs: visit,
      look: () => visitFindings(running),
    },
    { subjects: ['login form'], needs: [site], look: () => formFindings(running) },
    {
      subjects: ['long addresses'],
      needs: visit,
      look: () => (hasLongAddresses ? longFindings(running) : longUnasked(isProxied)),
    },
  ]
}

/**
 * Runs the checks in order and reports each unreachable server once.
 * Skips each check that needs an unreachable server, and lists the skipped checks at the end.
 */
async function* inTurn(checks: readonly Check[]): AsyncGenerator<Finding> {
  const missed = new Map<string, string[]>()
  for (const { subjects, needs, look } of checks) {
    const place = needs.find((one) => missed.has(one))
    if (place !== undefined) {
      missed.get(place)?.push(...subjects)
      continue
    }
    for await (const finding of eachFinding(look())) {
      const { away } = finding
      if (away !== undefined && missed.has(away)) continue
      yield finding
      if (away !== undefined) missed.set(away, [])
    }
  }
  for (const [place, subjects] of missed)
    if (subjects.length > 0)
      yield about('not checked').note(`${subjects.join(', ')} (${subjects.length > 1 ? 'need' : 'needs'} ${place})`)
}

async function* eachFinding(findings: Findings): AsyncGenerator<Finding> {
  if (findings instanceof Promise) yield await findings
  else yield* findings
}
