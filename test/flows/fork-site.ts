import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { type Network, redisUrl, sessionSecret } from './network'

/** A process of the built package, for the network's first site. */
export const forkProcess = (): ChildProcess => fork(path.join(__dirname, 'site-process.cjs'))

/** Options of such a process: the first site, beside the one of this process. */
export const processOptions = ({ emulator, morning }: Network) => ({
  ...emulator.siteOptions('morning'),
  siteUrl: morning.url,
  sessionSecret,
  redis: redisUrl(),
  session: { prefix: morning.prefix },
})

/** Tells a process its options. @param more options besides @returns its port, when it listens */
export async function startSite(child: ChildProcess, network: Network, more: object = {}): Promise<number> {
  const listening = once(child, 'message') as Promise<[{ port: number }]>
  child.send({ options: { ...processOptions(network), ...more } })
  return (await listening)[0].port
}
