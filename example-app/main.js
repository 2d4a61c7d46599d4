const { startNetwork } = require('./network.js')
const { accounts } = require('./platform.js')

const variables = { morning: 'MORNING_PORT', evening: 'EVENING_PORT', emulator: 'EMULATOR_PORT' }
const defaults = { morning: 3001, evening: 3002, emulator: 4000 }

async function main() {
  const ports = readPorts(process.env)
  const redis = process.env.REDIS_URL || undefined
  const network = await startNetwork({ ports, redis })
  console.log(startPage(network.urls, redis))
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await network.close()
      process.exit(0)
    })
  }
}

function readPorts(environment) {
  const ports = {}
  for (const [key, variable] of Object.entries(variables)) {
    const text = environment[variable] || String(defaults[key])
    const port = Number(text)
    if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
      fail(`${variable} is “${text}”; it must be a port, 1 to 65535.`)
    const taken = Object.entries(ports).find(([, other]) => other === port)
    if (taken) fail(`${variable} and ${variables[taken[0]]} are both ${port}; each needs a port of its own.`)
    ports[key] = port
  }
  return ports
}

function startPage(urls, redis) {
  const [reader, administrator] = accounts
  return `
  Two newspapers, one login.

    The Morning Post    ${urls.morning}
    Evening Star        ${urls.evening}
    Platform portal     ${urls.emulator}

  Accounts to try

    ${reader.username.padEnd(8)}${reader.password.padEnd(18)}a reader
    ${administrator.username.padEnd(8)}${administrator.password.padEnd(18)}an administrator of the organisation

  Log in at one paper, then open the other. Sessions are kept in ${redis ? 'Redis' : 'memory'}.
  Ctrl+C ends all three.
`
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

main().catch((error) => {
  if (error.code === 'EADDRINUSE') {
    const variable = Object.values(variables).join(', ')
    fail(`Port ${error.port} is taken by another program. Choose other ports with ${variable}.`)
  }
  fail(error.stack ?? String(error))
})
