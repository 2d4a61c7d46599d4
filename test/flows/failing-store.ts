import { type Command, Redis } from 'ioredis'
import type { Sso2 } from '../../lib'
import { eventually, redisUrl } from './setup'

/** A client of a real Redis that goes away at a command, and comes back. A transaction, or a pipeline, is one command. */
export interface FailingStore {
  readonly client: Redis
  /** How many commands it was asked since it was told how many it answers. */
  readonly asked: number
  /** @param commands so many are answered; @param doesOneMore the next one is done too, and its answer is lost */
  goAwayAfter(commands: number, doesOneMore: boolean): void
  /** Resolves when the site has noticed. */
  comeBack(sso: Sso2): Promise<void>
}

/** A client of a real Redis that rejects a command if `fails` returns true, as if the connection had closed. */
export function clientFailingAt(fails: (command: Command) => boolean, url = redisUrl()): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  const send = client.sendCommand.bind(client)
  client.sendCommand = (command: Command, stream) => {
    if (!fails(command)) return send(command, stream)
    command.reject(new Error('Connection is closed.'))
    return command.promise
  }
  return client
}

/** Opens one. */
export function failingStore(): FailingStore {
  let [asked, left, lost] = [0, Number.POSITIVE_INFINITY, 0]
  const client = new Redis(redisUrl(), { maxRetriesPerRequest: 1 })
  const send = client.sendCommand.bind(client)
  const groups = new WeakMap<object, number>()
  const placeOf = (group: object | undefined): number => {
    const known = group && groups.get(group)
    if (known !== undefined) return known
    asked += 1
    if (group) groups.set(group, asked)
    return asked
  }
  client.sendCommand = (command: Command, stream) => {
    const place = client.status === 'ready' ? placeOf(stream) : 0
    if (place <= left) return send(command, stream)
    const fail = () => command.reject(new Error('Connection is closed.'))
    if (place === lost) {
      command.resolve = fail
      return send(command, stream)
    }
    fail()
    return command.promise
  }
  return {
    client,
    get asked() {
      return asked
    },
    goAwayAfter: (commands, doesOneMore) => {
      asked = 0
      left = commands
      lost = doesOneMore ? commands + 1 : 0
    },
    comeBack: (sso) => {
      left = Number.POSITIVE_INFINITY
      return eventually(async () => (await sso.health()).store === 'ok')
    },
  }
}
