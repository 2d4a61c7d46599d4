import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Redis } from 'ioredis'
import { startCluster } from '../support/cluster'
import { loggerTo } from '../support/log-lines'
import { startRedis } from '../support/redis'
import { ada, eventually, logIn, view } from '../support/setup'
import { startSite } from './support'

/* What users see, and the log says, where Redis serves only a part: a user with few permissions, and one of three masters away. */

const documented = () => {
  const page = readFileSync(path.join(__dirname, '../../docs/deployment.md'), 'utf8')
  const [, rules = ''] = /ACL SETUSER news on >password (.+)/.exec(page) ?? []
  return rules.split(' ')
}

test('a Redis user with the commands of docs/deployment.md: login, check, log out everywhere and health work', async () => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  await admin.call('ACL', 'SETUSER', 'news', 'on', '>password', ...documented())
  const lines: string[] = []
  const redis = server.url.replace('://', '://news:password@')
  const setup = await startSite({
    options: { redis, session: { prefix: 'news:' }, logger: loggerTo(lines) },
    prefix: false,
  })
  const user = setup.browser()
  await user.visit(`${setup.url}/`)
  expect(view(await logIn(user, setup, ada))).toMatchObject({ status: 'loggedin' })
  setup.emulator.clock.advance(361)
  expect(view(await user.visit(`${setup.url}/account`))).toMatchObject({ status: 'loggedin' })
  await user.submit(`${setup.url}/logout-all`, { return_to: '/' })
  expect(view(await user.visit(`${setup.url}/`))).toMatchObject({ status: 'anon' })
  expect((await setup.sso.health()).store).toBe('ok')
  expect(lines.filter((line) => line.includes('Redis'))).toEqual([])
  await setup.close()
  admin.disconnect()
  await server.stop()
})

test('one of three masters away: a script without a session gets 503, and the log names the master', async () => {
  const running = await startCluster()
  const cluster = running.client({ disconnectTimeout: 100 })
  cluster.on('error', () => {})
  await once(cluster, 'ready')
  const lines: string[] = []
  const setup = await startSite({ options: { redis: cluster, logger: loggerTo(lines) } })
  await setup.browser().visit(`${setup.url}/`)
  running.masters[1]?.hang()
  const answers: unknown[] = []
  const tryOnce = async () => {
    const browser = setup.browser()
    const page = view(await browser.visit(`${setup.url}/`))
    if (page.status !== 'none') return false
    const { status, json } = await browser.fetchJson(`${setup.url}/login`, { json: ada })
    answers.push([status, json.error])
    return answers.length >= 3
  }
  await eventually(tryOnce)
  expect(answers).toEqual(answers.map(() => [503, 'unavailable']))
  const about = lines.filter(
    (line) => line.includes('Redis does not work') && line.includes(`:${running.masters[1]?.port})`),
  )
  expect(about).toEqual([expect.stringContaining('Only users with data on this master are affected')])
  running.masters[1]?.resume()
  await setup.close()
  cluster.disconnect()
  await running.stop()
}, 120_000)
