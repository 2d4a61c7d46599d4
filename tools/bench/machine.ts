import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import path from 'node:path'

/* Who runs where: the server that is measured has the first core to itself, everything else (load, Redis, emulator) the others. */

export const dist = path.resolve(process.env['BENCH_DIST'] ?? path.join(__dirname, '../../dist'))

const cores = pinnable()

/** Cores that this process may use; none where they cannot be told apart. */
function pinnable(): number[] {
  if (spawnSync('taskset', ['-V']).status !== 0) return []
  return Array.from({ length: availableParallelism() }, (_, core) => core)
}

/** Leaves the first core to the servers; what this process starts from here on stays off it as well. */
export function leaveFirstCore(): void {
  const [, ...others] = cores
  if (others.length > 0) execFileSync('taskset', ['-acp', others.join(','), String(process.pid)], { stdio: 'ignore' })
  else console.log('taskset, or a second core, is missing: nothing is pinned, so mind the control rows')
}

/** Starts a program of ours on the first core. */
function forkOnFirstCore(program: string, args: readonly string[], flags: readonly string[] = []): ChildProcess {
  const [first] = cores
  const env = { ...process.env, NODE_ENV: 'test' }
  if (first === undefined) return fork(program, args, { execArgv: [...flags], env })
  const execArgv = ['-c', String(first), process.execPath, ...flags]
  return fork(program, args, { execPath: 'taskset', execArgv, env })
}

/** Servers that take turns lie idle in between, and V8 would throw their code away. `BENCH_FLAGS` adds others, for a profile. */
const SERVER_FLAGS = [
  ...['--no-flush-bytecode', '--no-memory-reducer', '--expose-gc'],
  ...(process.env['BENCH_FLAGS']?.split(' ') ?? []),
]

/** A server whose memory is looked at runs as others do; the collector can be called. */
export const USUAL_FLAGS: readonly string[] = ['--expose-gc']

/** What a process has used since it began. */
export interface Usage {
  /** Microseconds of CPU time, all threads. */
  readonly cpu: number
  /** Bytes. */
  readonly rss: number
  /** What is alive. */
  readonly heap: number
}

/** One server in a process of its own. */
export class Server {
  readonly #child: ChildProcess
  readonly port: number

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  /** @param options as `servers/index.js` takes them @param flags of Node.js */
  static async start(
    options: { readonly kind: string; readonly [option: string]: unknown },
    flags: readonly string[] = SERVER_FLAGS,
  ): Promise<Server> {
    const child = forkOnFirstCore(path.join(__dirname, 'servers', 'index.js'), [], flags)
    child.send(options)
    const ended = once(child, 'exit').then(() => Promise.reject(new Error(`the server ${options.kind} did not start`)))
    const [port] = (await Promise.race([once(child, 'message'), ended])) as [number]
    ended.catch(() => {})
    return new Server(child, port)
  }

  async usage(): Promise<Usage> {
    return this.#ask({ ask: 'usage' })
  }
  /** As {@link usage}, after garbage collection. */
  async usageAtRest(): Promise<Usage> {
    return this.#ask({ ask: 'usage', collect: true })
  }
  /** Puts the server's clock on. */
  async advance(seconds: number): Promise<void> {
    await this.#ask({ ask: 'advance', seconds })
  }

  async #ask(question: object): Promise<Usage> {
    this.#child.send(question)
    const [answer] = (await once(this.#child, 'message')) as [Usage]
    return answer
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.disconnect()
    await gone
  }
}
