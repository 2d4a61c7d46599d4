import { type Command, Redis } from 'ioredis'
import type { Sso2 } from '../../lib'
import { eventually, redisUrl } from './setup'

/** A client of a real Redis that rejects a command if `fails` returns true, as if the connection had closed. */
export function clientFailingAt(fails: (command: Command, group?: object) => boolean, url = redisUrl()): Redis {
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  const send = client.sendCommand.bind(client)
  client.sendCommand = (command: Command, stream) => {
    if (!fails(command, stream)) return send(command, stream)
    rejectAsClosed(command)
    return command.promise
  }
  return client
}

const rejectAsClosed = (command: Command) => command.reject(new Error('Connection is closed.'))

/** A client of a real Redis that goes away at a command, and comes back. A transaction, or a pipeline, is one command. */
export function failingStore() {
  let [asked, left, lost] = [0, Number.POSITIVE_INFINITY, 0]
  const groups = new WeakMap<object, number>()
  const placeOf = (group: object | undefined): number => {
    const known = group && groups.get(group)
    if (known !== undefined) return known
    asked += 1
    if (group) groups.set(group, asked)
    return asked
  }
  const client: Redis = clientFailingAt((command, group) => {
    const place = client.status === 'ready' ? placeOf(group) : 0
    if (place <= left) return false
    if (place !== lost) return true
    command.resolve = () => rejectAsClosed(command)
    return false
  })
  return {
    client,
    /** How many commands it was asked since it was told how many it answers. */
    get asked() {
      return asked
    },
    /** @param commands so many are answered; @param doesOneMore the next one is done too, and its answer is lost */
    goAwayAfter: (commands: number, doesOneMore: boolean) => {
      asked = 0
      left = commands
      lost = doesOneMore ? commands + 1 : 0
    },
    comeBack: (sso: Sso2) => {
      left = Number.POSITIVE_INFINITY
      return eventually(async () => (await sso.health()).store === 'ok')
    },
  }
}
