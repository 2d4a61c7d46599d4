/** Lets the writes of logins and logouts answer only when a replica has it too: what Redis' WAIT costs and gives. */
const { Command } = require('ioredis')

/** What a login or a logout must not lose: records, tombstones, lists and marks. */
const isPrecious = ({ name, args }) =>
  (name === 'eval' || name === 'evalsha') && /(?:sso2|sid|acct|out|all):\{/.test(String(args[2]))
/** WAIT holds up its whole connection, so that reads must have another one, and writes several. */
const CONNECTIONS = 16

/** @param client an ioredis `Redis`; @param ms how long a write waits for its replica at most, and then answers all the same */
function withWait(client, ms) {
  const others = Array.from({ length: CONNECTIONS }, () => client.duplicate())
  for (const other of others) other.on('error', () => {})
  const { sendCommand } = client
  let turn = 0
  client.sendCommand = function (command, stream) {
    if (stream || !isPrecious(command)) return sendCommand.call(this, command, stream)
    turn += 1
    const other = others[turn % CONNECTIONS]
    const [answer, waited] = [other.sendCommand(command), other.sendCommand(new Command('wait', [1, ms]))]
    waited.catch(() => {})
    return answer.then(async (value) => {
      await waited
      return value
    })
  }
  const { disconnect } = client
  client.disconnect = function (...args) {
    for (const other of others) other.disconnect()
    return disconnect.apply(this, args)
  }
  return client
}

module.exports = { withWait }
