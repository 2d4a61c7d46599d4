import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import http, { type Server } from 'node:http'
import type net from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import express, { type RequestHandler } from 'express'
import { type Sso2Options, sso2 } from '../../lib'
import { doctorCommand } from '../../lib/cli/doctor'
import { createEmulator, demoOptions, type Emulator, type EmulatorOptions } from '../../lib/emulator'
import { runCommand } from '../emulator/command'
import { variablesOf } from '../support/configuration'
import { faultyServer } from '../support/faulty-server'
import { headingsOf } from '../support/markdown'
import { freePort } from '../support/ports'
import { printed } from '../support/printed'
import { eventually, redisUrl, sessionSecret } from '../support/setup'
import { readText } from '../support/sources'

export interface SceneOptions {
  readonly platform?: EmulatorOptions
  readonly site?: Partial<Sso2Options>
  /** A proxy in front, and how many proxies the application trusts. */
  readonly proxy?: Change
  /** What it makes of the headers of answers. */
  readonly answers?: Change
  /** Does the site listen on a Unix socket, behind the proxy? */
  readonly isOnSocket?: boolean
  readonly trust?: number | boolean | string | ((address: string) => boolean)
  readonly landing?: string
  /** What the site mounts before sso. */
  readonly before?: readonly RequestHandler[]
}

export const prefix = 'doctor:'

export type Scene = Awaited<ReturnType<typeof startScene>>

/** Starts a site over the Redis of the test run, and its platform. @returns with the environment that both share */
export async function startScene(options: SceneOptions = {}) {
  const port = await freePort()
  const siteUrl = `http://localhost:${port}`
  const [client] = demoOptions().clients ?? []
  const landingPage = siteUrl + (options.landing ?? '/sso2/landing')
  const clients = client ? [{ ...client, landingPage }] : []
  const emulator = createEmulator(demoOptions({ tokenTime: 'real', clients, ...options.platform }))
  await emulator.listen(0)
  const platform = emulator.siteOptions()
  const sso = sso2({ ...platform, siteUrl, sessionSecret, redis: redisUrl(), session: { prefix }, ...options.site })
  const app = express()
  app.set('trust proxy', options.trust ?? false)
  for (const handler of options.before ?? []) app.use(handler)
  app.use(sso)
  const servers = await listen(app, port, options)
  // or the doctor meets a site that is still connecting
  if (options.site?.redis === undefined) await eventually(async () => (await sso.health()).store === 'ok')
  const environment = variablesOf({ ...platform, siteUrl, sessionSecret, redis: redisUrl() })
  const close = async () => {
    for (const server of servers) server.close()
    await sso.close()
    await emulator.close()
  }
  return { emulator, sso, environment, siteUrl, close }
}

async function listen(app: express.Express, port: number, options: SceneOptions): Promise<Server[]> {
  const { proxy, answers, isOnSocket } = options
  if (!proxy && !answers && !isOnSocket) {
    const server = app.listen(port, 'localhost')
    await once(server, 'listening')
    return [server]
  }
  const inner = http.createServer(app)
  const target = isOnSocket ? await listenOnSocket(inner) : await listenLocally(inner)
  const outer = forwarding(target, proxy, answers).listen(port, 'localhost')
  await once(outer, 'listening')
  return [inner, outer]
}

/** Listens on a free port of this machine. @returns the port */
export async function listenLocally(server: net.Server, host = '127.0.0.1'): Promise<number> {
  await once(server.listen(0, host), 'listening')
  return (server.address() as net.AddressInfo).port
}

/** Listens on a Unix socket. @returns its path */
async function listenOnSocket(server: net.Server): Promise<string> {
  const socket = path.join(mkdtempSync(path.join(tmpdir(), 'sso2-socket-')), 'site.sock')
  await once(server.listen(socket), 'listening')
  return socket
}

export type Change = (headers: http.IncomingHttpHeaders) => http.IncomingHttpHeaders

/** A proxy that changes the headers of requests, or of answers. */
function forwarding(
  to: number | string,
  ofRequest: Change = (headers) => headers,
  ofAnswer: Change = (headers) => headers,
): Server {
  return http.createServer((req, res) => {
    const { url = '/', method } = req
    const place = typeof to === 'string' ? { socketPath: to } : { host: '127.0.0.1', port: to }
    const target = { ...place, path: url, method, headers: ofRequest({ ...req.headers }), agent: false }
    const onward = http.request(target, (answer) => {
      res.writeHead(answer.statusCode ?? 502, ofAnswer({ ...answer.headers }))
      answer.pipe(res)
    })
    onward.once('error', () => res.destroy())
    req.pipe(onward)
  })
}

/** The emulator at another address, where nothing shows that it is one. */
export async function disguised(emulator: Emulator): Promise<{ url: string; close(): void }> {
  const strip: Change = ({ 'x-sso2-emulator': _mark, ...headers }) => headers
  const server = forwarding(Number(new URL(emulator.url).port), undefined, strip)
  return { url: `http://127.0.0.1:${await listenLocally(server)}`, close: () => void server.close() }
}

export type Report = ReturnType<typeof readReport>

/** Headings of the page that explains the lines. */
const anchors = new Set(
  headingsOf(readText('docs', 'commands.md')).flatMap(({ level, anchor }) => (level === 3 ? [anchor] : [])),
)

const anchorOf = (what: string) =>
  what.endsWith('Url') ? 'ssourl-tokenurl-apiurl-siteurl' : what.toLowerCase().replaceAll(' ', '-')

/**
 * Reads what the command printed. Below lines that are not ok stands the link to their heading.
 * @returns with `of`, what is said of a subject, sign first, and what helps, a line each; and with the subjects in their order
 */
function readReport(code: number, output: string) {
  const lines = new Map<string, string[]>()
  let last: string[] = []
  let unlinked: string | undefined
  for (const line of output.trimEnd().split('\n')) {
    const [, anchor] = /^ {25}See node_modules\/express-sso2\/docs\/commands\.md#(\S+)$/.exec(line) ?? []
    if (anchor !== undefined) {
      if (!anchors.has(anchor)) throw new Error(`docs/commands.md has no heading #${anchor}`)
      if (anchor === unlinked) unlinked = undefined
      continue
    }
    const [, help] = /^ {25}-> (.*)$/.exec(line) ?? []
    const [, sign = '', what = '', says = ''] = /^(\S+) {2,}(\S.*?) {2,}(.*)$/.exec(line) ?? []
    if (help === undefined) {
      const anchor = sign === 'ok' ? undefined : anchorOf(what)
      // an error of a module comes at any time, and has its own link
      const isExpected = unlinked === undefined || unlinked === anchor || what === 'module'
      if (!isExpected) throw new Error(`no link to docs/commands.md before: ${line}`)
      if (what !== 'module') unlinked = anchor
      last = lines.get(what) ?? []
      lines.set(what, last)
    }
    last.push(help === undefined ? `${sign}: ${says}` : `-> ${help}`)
  }
  if (unlinked !== undefined) throw new Error(`no link to docs/commands.md at the end of: ${output}`)
  return { code, output, of: (what: string) => (lines.get(what) ?? []).join('\n'), subjects: [...lines.keys()] }
}

/** One site for all tests of a suite, and what the doctor says of it. Faults of its platform end with each test. */
export function sharedScene() {
  const scene = {} as Scene // is there before the first test
  beforeAll(async () => void Object.assign(scene, await startScene()))
  afterEach(() => endFaults(scene))
  afterAll(() => scene.close())
  const doctor = (changes: Readonly<Record<string, string>> = {}, args: string[] = []) =>
    examine({ ...scene.environment, ...changes }, args)
  const command = (args: string[], environment = scene.environment, folder?: string) =>
    examineByCommand(environment, args, folder)
  return { scene, doctor, command }
}

/** Ends all faults of the platform, and waits until the site has noticed: its probes may have met them. */
async function endFaults({ emulator, sso }: Scene): Promise<void> {
  emulator.faults.clear()
  await eventually(async () => (await sso.health()).sso === 'ok')
}

/** Runs the doctor in this process; again where the site's store did not answer, which a busy machine alone may keep back. */
export const examine = (environment: Readonly<Record<string, string>>, args: string[] = []) =>
  inTime(() => examineOnce(environment, args), isStoreLate)

/** Runs the command itself, in a folder that may hold a module or variables. */
export const examineByCommand = (environment: Readonly<Record<string, string>>, args: string[], folder?: string) =>
  inTime(async () => {
    const { code, stdout, stderr } = await runCommand(['doctor', ...args], environment, folder)
    expect(stderr).toBe('')
    return readReport(code ?? -1, stdout)
  }, isStoreLate)

/** What is reported in the end: twice at most, the doctor is asked again where a busy machine was late. */
async function inTime(report: () => Promise<Report>, isLate: (found: Report) => boolean): Promise<Report> {
  for (let left = 2; ; left -= 1) {
    const found = await report()
    if (left === 0 || !isLate(found)) return found
  }
}

/** After a slow answer, the clock seems further ahead. @param most more seconds than these are looked at again */
export const withClock = (report: () => Promise<Report>, most: number) =>
  inTime(report, ({ output }) => Number(/ (\d+) s ahead/.exec(output)?.[1]) > most)

/** May the site's store have been late? Its pages then redirect nobody to Identify. */
function isStoreLate({ of }: Report): boolean {
  return /cannot reach its Redis|does not redirect to Identify/.test(`${of('site')}\n${of('first visit')}`)
}

async function examineOnce(environment: Readonly<Record<string, string>>, args: string[]): Promise<Report> {
  const { code, stdout, stderr } = await runDoctor(environment, args)
  expect(stderr).toBe('')
  return readReport(code, stdout)
}

/** Runs the doctor in this process, with an environment of its own. */
export async function runDoctor(environment: Readonly<Record<string, string>>, args: string[]) {
  const others = Object.entries(process.env).filter(([name]) => !/^(SSO2_|REDIS_URL$)/.test(name))
  const env = jest.replaceProperty(process, 'env', { ...Object.fromEntries(others), ...environment })
  try {
    return await printed(() => doctorCommand(args))
  } finally {
    env.restore()
  }
}

/** Examines a site of its own, of which the doctor may know something else than is so. */
export async function examined(
  options: SceneOptions,
  changes: Readonly<Record<string, string>> = {},
  args: string[] = [],
): Promise<Report> {
  const { environment, close } = await startScene(options)
  const report = await examine({ ...environment, ...changes }, args)
  await close()
  return report
}

/** What is to be done, in the first line that says so. */
export const helpOf = (said: string) => /^-> (.*)$/m.exec(said)?.[1]

/** Exit 1 where something is wrong. */
export const codeFor = (says: RegExp) => (says.source.startsWith('^WRONG') ? 1 : 0)

/** A server that gives one answer to everything. @param status one, or one for each path */
export async function answering(
  status: number | ((path: string, headers: http.IncomingHttpHeaders) => number),
  headers: Record<string, string>,
  body: string,
) {
  const server = await faultyServer()
  server.become((res, seen) =>
    res.writeHead(typeof status === 'number' ? status : status(seen.url, seen.headers), headers).end(body),
  )
  return server
}
