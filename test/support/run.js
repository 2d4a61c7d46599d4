#!/usr/bin/env node
/*
 * Runs Jest and watches over it. A suite in which no test ends, nor reaches its own time limit, has a process that hangs: then
 * this tells what the processes are doing, stops them, and runs what is left once more. Failures stay failures.
 * A run of all tests also fails when something that passes writes to the screen.
 *
 *   node test/support/run.js [arguments of jest]
 */
const { execFileSync, spawn } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { StrayLines } = require('./stray-lines.js')

const STUCK_MS = Number(process.env.TEST_STUCK_MS ?? 240_000)
const ROUNDS = 3
const jest = require.resolve('jest/bin/jest')
/** Jest's workers inherit these. Two cores have four of them already: V8's own helpers would only take turns with them. */
const V8_FLAGS = ['--single-threaded', '--min-semi-space-size=16', '--max-semi-space-size=16']
const strays = new StrayLines()
const place = fs.mkdtempSync(path.join(os.tmpdir(), 'express-sso2-tests-'))

function start(args, progress) {
  const colors = process.stderr.isTTY ? { FORCE_COLOR: '1' } : {}
  const env = { ...process.env, ...colors, TEST_PROGRESS: progress }
  // a group of its own, so that all of it can be stopped
  const child = spawn(process.execPath, [...V8_FLAGS, jest, ...args], {
    stdio: ['inherit', 'pipe', 'pipe'],
    env,
    detached: true,
  })
  strays.pass(child.stdout, process.stdout)
  strays.pass(child.stderr, process.stderr)
  return child
}

/** The last word of each suite that has begun. */
function readProgress(progress) {
  const suites = new Map()
  const text = fs.existsSync(progress) ? fs.readFileSync(progress, 'utf8') : ''
  for (const line of text.split('\n').filter(Boolean)) {
    const { suite, at, outcome } = JSON.parse(line)
    suites.set(suite, { at, outcome })
  }
  return suites
}

/** True when a suite, or Jest between its suites, has done nothing for too long. */
function isStuck(suites, start, now) {
  const last = Math.max(start, ...[...suites.values()].map(({ at }) => at))
  return now - last > STUCK_MS || unfinished(suites).some(([, { at }]) => now - at > STUCK_MS)
}

const unfinished = (suites) => [...suites].filter(([, { outcome }]) => outcome === 'begun')

function tellStuck(group, suites) {
  for (const [suite, { at }] of unfinished(suites))
    console.error(`STUCK ${suite} has done nothing for ${Math.round((Date.now() - at) / 1000)} s`)
  const list = ['-o', 'pid,stat,time,rss,wchan:24,args', '--forest', '-g', String(group)]
  try {
    console.error(execFileSync('ps', list, { encoding: 'utf8' }).replace(/^(.{150}).*$/gm, '$1'))
  } catch (error) {
    console.error(`its processes cannot be listed: ${error.code ?? error.message}`)
  }
}

function signalGroup(group, signal) {
  try {
    process.kill(-group, signal)
  } catch {
    // nobody is left
  }
}

/** @returns the suites that are left when a process hangs, or else Jest's exit code */
async function round(args, progress) {
  const begin = Date.now()
  const child = start(args, progress)
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => signalGroup(child.pid, signal))
  const ended = new Promise((resolve) => child.once('exit', (code) => resolve({ code: code ?? 1 })))
  const closed = new Promise((resolve) => child.once('close', resolve))
  const pause = () => new Promise((resolve) => setTimeout(resolve, 1000).unref())
  for (;;) {
    const end = await Promise.race([ended, pause()])
    if (end) {
      signalGroup(child.pid, 'SIGKILL') // servers of a suite that did not come to its end
      await Promise.race([closed, pause()]) // the last lines; whoever has left the group may hold on to the streams
      return end
    }
    const suites = readProgress(progress)
    if (!isStuck(suites, begin, Date.now())) continue
    tellStuck(child.pid, suites)
    signalGroup(child.pid, 'SIGKILL')
    await ended
    return { suites }
  }
}

async function main(args) {
  let left = args
  let hasFailed = false
  for (let number = 1; number <= ROUNDS; number += 1) {
    const { code, suites } = await round(left, path.join(place, `round-${number}`))
    if (code !== undefined) return hasFailed ? 1 : code
    const ended = [...suites].filter(([, { outcome }]) => outcome !== 'begun')
    hasFailed ||= ended.some(([, { outcome }]) => outcome === 'failed')
    const names = execFileSync(process.execPath, [jest, '--listTests', ...left], { encoding: 'utf8' })
    const done = new Set(ended.map(([suite]) => suite))
    left = ['--runTestsByPath', ...names.split('\n').filter((name) => name && !done.has(name))]
    if (left.length === 1) return hasFailed ? 1 : 0
    console.error(`A test process hung and was stopped; running the ${left.length - 1} suites that are left once more.`)
  }
  console.error(`Test processes hung ${ROUNDS} times: this is no accident.`)
  return 1
}

/** 1 when tests that pass have written to the screen; Jest lists the tests of a single suite, so only all of them are judged. */
function judgeStrays(args) {
  if (args.length > 0 || strays.lines.length === 0) return 0
  console.error(`Tests that pass are quiet, but these lines were written:\n${strays.lines.join('\n')}`)
  return 1
}

const args = process.argv.slice(2)
main(args)
  .then((code) => {
    process.exitCode = code || judgeStrays(args)
  })
  .finally(() => fs.rmSync(place, { recursive: true, force: true }))
