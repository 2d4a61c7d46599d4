import { type Command, Redis } from 'ioredis'
import { redisUrl } from './setup'

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
