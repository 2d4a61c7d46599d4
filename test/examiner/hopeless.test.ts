import type { RequestListener } from 'node:http'
import type { Check } from '../../lib/examiner/check'
import { allChecks } from '../../lib/examiner/checks'
import { runChecks } from '../../lib/examiner/run'
import { readSettings } from '../../lib/examiner/settings'
import { beside, factsOf } from './beside'

/* No check passes against a site that does nothing. */

const sites: [name: string, site: RequestListener | undefined][] = [
  ['does not run', undefined],
  [
    'has a login form that does nothing',
    (_req, res) =>
      void res.end('<form method="post"><input name="username"><input type="password" name="password"></form>'),
  ],
]

const rest = { marketplace: '/m', gift: '/g', administrators: '/a', user: '/u' }

/** All sites are examined at once, for which a busy machine needs half a minute or more. */
const BUSY_MS = 150_000

/** Some of the checks each, so that many run at the same time. The longest takes ten seconds. */
const PARTS = 29
const parts = Array.from({ length: PARTS }, (_, part) => allChecks.filter((_check, index) => index % PARTS === part))

/** Checks of a part that not every site has, with the keys of examine.json that would tell the examiner of the part. */
const ofParts: Record<string, readonly string[] | undefined> = {
  'identify/first-visit': undefined,
  'identify/navigations-only': undefined,
  'identify/without-cookies': undefined,
  'identify/shared-address': undefined,
  'status/sensitive-page': ['pages.sensitive'],
  'status/sensitive-unverified': ['pages.sensitive'],
  'session/equal-names': ['pages.data'],
  'session/former-form': ['pages.data'],
  'logout/all-sessions': ['logoutAll'],
  'outage/new-visitors': undefined,
  'calls/secrets-in-output': undefined,
  'login/log-injection': undefined,
  'outage/grace-period': ['graceSeconds'],
  'rest/marketplace': ['rest.marketplace'],
  'rest/gift': ['rest.gift'],
  'rest/administrators': ['rest.administrators'],
  'rest/user': ['rest.user'],
  'rest/kept-failure': ['rest.administrators', 'rest.gift', 'rest.user', 'rest.marketplace'],
  'rest/expired-token': ['rest.administrators', 'rest.gift', 'rest.user', 'rest.marketplace'],
  'rest/own-token': ['rest.gift', 'rest.administrators', 'rest.user'],
}

test('a check of a part that the site does not have is not applicable, and names the missing keys', () =>
  beside(undefined, async (platform) => {
    const checks = allChecks.filter(({ name }) => name in ofParts)
    const facts = { ...factsOf(platform.siteUrl), isIdentifiedAlways: false, logoutAll: undefined }
    const options = { platform, settings: readSettings({}), facts, recoveryMs: 0, patienceMs: 0 }
    const results = await runChecks(checks, options)
    expect(Object.fromEntries(results.map(({ name, missingKeys }) => [name, missingKeys]))).toEqual(ofParts)
    expect([...new Set(results.map(({ verdict }) => verdict))]).toEqual(['not applicable'])
  }))

test.concurrent.each(sites)(
  'no check passes against a site that %s by now',
  (_name, site) => Promise.all(parts.map((checks) => noneMayPass(checks, site))).then(() => {}),
  BUSY_MS,
)

const noneMayPass = (checks: readonly Check[], site: RequestListener | undefined) =>
  beside(site, async (platform) => {
    const settings = readSettings({
      recheckSeconds: 0,
      graceSeconds: 0,
      rest,
      pages: { sensitive: '/payments', data: '/notes' },
    })
    const facts = factsOf(platform.siteUrl)
    const parts = { recoveryMs: 0, patienceMs: 0 }
    const results = await runChecks(checks, { platform, settings, facts, ...parts })
    expect(results.map(({ name }) => name)).toEqual(checks.map(({ name }) => name))
    expect(results.filter(({ verdict }) => verdict === 'passed').map(({ name }) => name)).toEqual([])
    const broken = results.filter(({ reason }) => reason.startsWith('the examiner failed'))
    expect(broken.map(({ name, reason }) => `${name}: ${reason}`)).toEqual([])
  })
