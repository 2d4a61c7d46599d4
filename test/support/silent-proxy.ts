import { once } from 'node:events'
import net from 'node:net'
import { keepBack } from './patience'

/** A way to a server that can lose its connections without a word: new ones work. */
export async function silentProxy(port: number) {
  const pairs: { from: net.Socket; to: net.Socket; isSilent: boolean }[] = []
  const proxy = net.createServer({ allowHalfOpen: true }, (from) => {
    const to = net.connect(port, '127.0.0.1')
    const pair = { from, to, isSilent: false }
    pairs.push(pair)
    from.on('data', (data) => pair.isSilent || to.write(data))
    to.on('data', (data) => pair.isSilent || from.write(data))
    for (const one of [from, to]) one.on('error', () => {})
    from.on('close', () => to.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as net.AddressInfo).port,
    connections: () => pairs.length,
    silence() {
      keepBack(`silent ${port}`)
      for (const pair of pairs) pair.isSilent = true
    },
    close() {
      for (const { from, to } of pairs) for (const one of [from, to]) one.destroy()
      proxy.close()
    },
  }
}
