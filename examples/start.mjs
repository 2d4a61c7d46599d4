/**
 * Runs one of the examples beside an emulator of the platform: `node start.mjs minimal`.
 * Only for trying them out. A site of your own is the example's folder, and an environment of its own.
 */
import { execSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createEmulator } from 'express-sso2/emulator'

const [, , name] = process.argv
const names = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) => entry.isDirectory())
if (!names.some((entry) => entry.name === name)) {
  console.error(`usage: node start.mjs ${names.map((entry) => entry.name).join('|')}`)
  process.exit(2)
}

const port = process.env.PORT ?? 3000
/** Sites, by what the names of their variables begin with. */
const sites =
  name === 'two-sites'
    ? { MORNING: `http://morning.localhost:${port}`, EVENING: `http://evening.localhost:${port}` }
    : { SSO2: `http://localhost:${port}` }
const clients = Object.entries(sites).map(([prefix, siteUrl]) => ({
  clientId: prefix.toLowerCase(),
  clientSecret: randomBytes(32).toString('hex'),
  landingPage: `${siteUrl}/sso2/landing`,
}))
const emulator = createEmulator({ clients, tokenTime: 'real' })
const { url } = await emulator.listen(Number(process.env.EMULATOR_PORT ?? 4000))

Object.assign(process.env, {
  PORT: port,
  SSO2_URL: `${url}/sso`,
  SSO2_API_URL: url,
  SSO2_TOKEN_URL: `${url}/oauth/token`,
  SSO2_ORGANISATION_ID: emulator.siteOptions().organisationId,
  SSO2_SESSION_SECRET: randomBytes(32).toString('hex'),
  SESSION_SECRET: randomBytes(32).toString('hex'), // of existing-session
})
for (const [prefix, siteUrl] of Object.entries(sites)) {
  const { clientId, clientSecret } = emulator.siteOptions(prefix.toLowerCase())
  process.env[`${prefix}_SITE_URL`] = siteUrl
  process.env[`${prefix}_CLIENT_ID`] = clientId
  process.env[`${prefix}_CLIENT_SECRET`] = clientSecret
}

const folder = new URL(`${name}/`, import.meta.url)
const isTypeScript = existsSync(new URL('tsconfig.json', folder))
if (isTypeScript) execSync('npx tsc', { cwd: folder, stdio: 'inherit' })
await import(new URL(isTypeScript ? 'dist/main.js' : 'site.mjs', folder))

const isThere = () => fetch(`http://localhost:${port}/sso2/landing`).catch(() => undefined)
while (!(await isThere())) await setTimeout(50)
console.log(`${Object.values(sites).join(' and ')}: log in as ada with correct-horse. The platform's portal is ${url}`)
