const { once } = require('node:events')
const http = require('node:http')
const { createEmulator } = require('express-sso2/emulator')
const newspapers = require('./newspapers.js')
const { campaigns, makeClient, makeSecret, organisationId, platformOptions } = require('./platform.js')
const { createSite } = require('./site.js')

/**
 * Starts the emulator and both newspapers. Port 0 takes a free one.
 *
 * @param {object} [options]
 * @param {{ morning: number, evening: number, emulator: number }} [options.ports]
 * @param {string} [options.redis] address of a Redis; memory when left out
 * @param {string} [options.prefix] put before the keys of both sites in Redis
 * @returns the three addresses, the emulator, both sites, and `close()`
 */
async function startNetwork({ ports = { morning: 0, evening: 0, emulator: 0 }, redis, prefix = '' } = {}) {
  const servers = []
  const opened = []
  // First the requests that are under way, then what they need, the last one opened first.
  const close = async () => {
    await Promise.all(servers.splice(0).map(finish))
    for (const end of opened.splice(0).reverse()) await end()
  }
  try {
    return { ...(await open({ ports, redis, prefix }, servers, opened)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function open({ ports, redis, prefix }, servers, opened) {
  const [morning, evening] = [await listen(ports.morning, servers), await listen(ports.evening, servers)]
  const urls = { morning: address(morning), evening: address(evening) }
  const clients = { morning: makeClient('morning-post'), evening: makeClient('evening-star') }

  const emulator = createEmulator(platformOptions(urls, clients))
  opened.push(() => emulator.close())
  const { url } = await named('emulator', ports.emulator, emulator.listen(ports.emulator))
  const platform = { ssoUrl: `${url}/sso`, apiUrl: url, tokenUrl: `${url}/oauth/token`, portalUrl: url, organisationId }

  const site = (key, sisterKey) => {
    const made = createSite({
      paper: newspapers[key],
      url: urls[key],
      sister: { name: newspapers[sisterKey].name, url: urls[sisterKey] },
      platform,
      client: clients[key],
      sessionSecret: makeSecret(),
      campaigns,
      redis,
      prefix: `${prefix}${key}:`,
      // The portal can put the platform's clock forward; the sites follow it.
      clock: emulator.clock,
    })
    opened.push(made.close)
    const server = key === 'morning' ? morning : evening
    server.on('request', made.app)
    return made
  }
  return {
    urls: { ...urls, emulator: url },
    emulator,
    sites: { morning: site('morning', 'evening'), evening: site('evening', 'morning') },
  }
}

/** A server that listens already, so that its address is known before the site is made. */
async function listen(port, servers) {
  const server = http.createServer({ keepAliveTimeout: 60_000 }) // or a slow browser sends into a connection just closed
  servers.push(server)
  server.listen(port, '127.0.0.1')
  await named('site', port, once(server, 'listening'))
  return server
}

const finishMs = 10_000

/** Takes no more requests, and lets those that are under way come to their end, within ten seconds. */
async function finish(server) {
  if (!server.listening) return
  const late = setTimeout(() => server.closeAllConnections(), finishMs)
  const idle = setInterval(() => server.closeIdleConnections(), 50) // a connection that is kept alive would be waited for
  await new Promise((resolve) => server.close(resolve))
  clearTimeout(late)
  clearInterval(idle)
}

function address(server) {
  return `http://localhost:${server.address().port}`
}

/** Says which port it was when something cannot be opened. */
async function named(what, port, opening) {
  try {
    return await opening
  } catch (error) {
    throw Object.assign(error, { what, port })
  }
}

module.exports = { startNetwork }
