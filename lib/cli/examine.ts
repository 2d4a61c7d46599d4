/** Runs `express-sso2 examine`, which examines a site and reports. The checks are in `lib/examiner`. */
import { writeFileSync } from 'node:fs'
import { examine, listOfChecks, prepare } from '../examiner'
import { USER_AGENT } from '../examiner/browser'
import { Chromium } from '../examiner/chromium'
import { CannotExamine } from '../examiner/discovery'
import { Platform } from '../examiner/platform'
import { jsonReport, junitReport } from '../examiner/report/files'
import { htmlReport } from '../examiner/report/html'
import { countOf, type Examined } from '../examiner/report/summary'
import { paint, terminalReport } from '../examiner/report/terminal'
import type { Progress } from '../examiner/run'
import { settingsText } from '../examiner/settings'
import { errorMessage } from './error-message'
import { type ExamineArguments, examineHelp, readExamineArguments } from './examine-arguments'
import { isTaken, SiteProcess } from './examine-site'

/**
 * Runs the command.
 * @param args arguments after the name of the command
 * @returns the exit code: 0 no check failed, 1 at least one failed, 2 the examination could not be made
 */
export async function examineCommand(args: readonly string[]): Promise<number> {
  let given: ExamineArguments
  try {
    given = readExamineArguments(args)
  } catch (error) {
    process.stderr.write(`express-sso2 examine: ${errorMessage(error)}\n\n${examineHelp}`)
    return 2
  }
  switch (given.what) {
    case 'help':
      process.stdout.write(examineHelp)
      return 0
    case 'list':
      process.stdout.write(listText())
      return 0
    case 'settings':
      process.stdout.write(settingsText(new Platform(given.siteUrl, given.settings.landing).addressesAt(given.port)))
      return 0
    case 'examine':
      return runExaminer(given)
  }
}

async function runExaminer(given: ExamineArguments): Promise<number> {
  try {
    const examined = await examineSite(given)
    writeReports(examined, given)
    process.stdout.write(terminalReport(examined, hasColors(process.stdout)))
    if (examined.results.length === 0) throw new CannotExamine('no check was left to run')
    return countOf(examined.results, 'failed') > 0 ? 1 : 0
  } catch (error) {
    process.stderr.write(`express-sso2 examine: the examination could not be made: ${errorMessage(error)}\n`)
    return 2
  }
}

async function examineSite({
  siteUrl,
  settings,
  port,
  command,
  only,
  skip,
  isQuick,
  hasChromium,
}: ExamineArguments): Promise<Examined> {
  if (command && (await isTaken(siteUrl)))
    throw new CannotExamine(`another program responds at ${siteUrl}: end it, or leave the command out`)
  const platform = new Platform(siteUrl, settings.landing)
  let chromium: Chromium | undefined
  let site: SiteProcess | undefined
  const stop = async () => {
    await chromium?.close()
    await site?.stop()
    await platform.close()
  }
  const interrupted = () => void stop().finally(() => process.exit(130))
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted)
  try {
    if (hasChromium) chromium = await Chromium.start(USER_AGENT)
    await listenPlatform(platform, port)
    const chosen = { platform, settings, only, skip, isQuick }
    prepare(chosen)
    if (command) site = new SiteProcess(command, platform.addresses)
    await site?.responds(siteUrl)
    const siteOutput = site?.output
    return await examine({ ...chosen, chromium, siteOutput, onProgress: progress })
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
    progress(undefined)
    await stop()
  }
}

async function listenPlatform(platform: Platform, port: number): Promise<void> {
  try {
    await platform.listen(port)
  } catch (error) {
    throw new CannotExamine(
      `the platform cannot listen on port ${port} (${errorMessage(error)}): choose another one with --port`,
    )
  }
}

/** Overwrites a line of progress, on terminals only. */
function progress(now: Progress | undefined): void {
  if (!process.stderr.isTTY) return
  if (!now) return void process.stderr.write('\r\u001b[K')
  const { name, done, all, leftSeconds } = now
  const left = leftSeconds >= 90 ? `${Math.round(leftSeconds / 60)} min` : `${Math.round(leftSeconds)} s`
  process.stderr.write(`\r\u001b[K${paint(`[${done}/${all}]`, '1', true)} ${name}, about ${left} left`)
}

function writeReports(examined: Examined, { report, junit, json }: ExamineArguments): void {
  const files: readonly [string | undefined, (examined: Examined) => string][] = [
    [report, htmlReport],
    [junit, junitReport],
    [json, jsonReport],
  ]
  for (const [file, make] of files) {
    if (file === undefined) continue
    try {
      writeFileSync(file, make(examined))
    } catch (error) {
      throw new CannotExamine(`the report ${file} cannot be written: ${errorMessage(error)}`)
    }
  }
}

function listText(): string {
  const checks = listOfChecks()
  const width = Math.max(...checks.map(({ name }) => name.length))
  return checks.map(({ name, good, isSlow }) => `${name.padEnd(width)}  ${good}${isSlow ? ' (waits)' : ''}\n`).join('')
}

const hasColors = (stream: NodeJS.WriteStream) => stream.isTTY && process.env['NO_COLOR'] === undefined
