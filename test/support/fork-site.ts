import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { redisUrl, type Setup, sessionSecret } from './setup'

/** A process of the built package, for the first site of a setup. */
export const forkProcess = (): ChildProcess => fork(path.join(__dirname, 'site-process.cjs'))

/** Tells a process its options: those of the first site of this process. @param more options besides @returns its port, when it listens */
export async function startSite(child: ChildProcess, setup: Setup, more: object = {}): Promise<number> {
  const { emulator, morning } = setup
  const usual = { siteUrl: morning.url, sessionSecret, redis: redisUrl(), session: { prefix: morning.prefix } }
  const listening = once(child, 'message') as Promise<[{ port: number }]>
  child.send({ options: { ...emulator.siteOptions('morning'), ...usual, ...more } })
  return (await listening)[0].port
}
